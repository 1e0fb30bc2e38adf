// Operations on rows of activations: norm, rotary positions, gates, sums.

void norm(Lane& lane, const NormArgs& args) {
  const int64_t n_groups = args.x.cols / args.d;
  lane.team->run(args.x.rows, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin * n_groups; i < end * n_groups; ++i) {
      const float* x = args.x.row(i / n_groups) + i % n_groups * args.d;
      float* y = args.y.row(i / n_groups) + i % n_groups * args.d;
      const float mean = dot32(x, x, args.d) / static_cast<float>(args.d);
      const float inverse = 1.0f / __builtin_sqrtf(mean + args.eps);
      for (int64_t c = 0; c < args.d; ++c) y[c] = x[c] * inverse * args.weight[c];
    }
  });
}

/// Pairs (x[i * kStep], x[i * kStep + apart]) turned by the angle of their number.
template <int kStep>
FT_INLINE void rotate_pairs(float* __restrict x, int64_t apart, const float* __restrict cosines,
                            const float* __restrict sines, int64_t n_pairs) {
  for (int64_t i = 0; i < n_pairs; ++i) {
    const float a = x[i * kStep];
    const float b = x[i * kStep + apart];
    x[i * kStep] = fma32(a, cosines[i], -(b * sines[i]));
    x[i * kStep + apart] = fma32(b, cosines[i], a * sines[i]);
  }
}

void rope(Lane& lane, const RopeArgs& args) {
  const int64_t half = args.d_rotary / 2;
  lane.team->run(args.x.rows, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      const float* cosines = args.cos_sin + args.positions[r] * args.d_rotary;
      for (int64_t h = 0; h < args.n_heads; ++h) {
        float* x = args.x.row(r) + h * args.d_head + args.first;
        if (args.is_interleaved) {
          rotate_pairs<2>(x, 1, cosines, cosines + half, half);
        } else {
          rotate_pairs<1>(x, half, cosines, cosines + half, half);
        }
      }
    }
  });
}

void gate(Lane& lane, const GateArgs& args) {
  lane.team->run(args.gate.rows, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      gate_values(args.spec, args.gate.row(r), args.up.row(r), args.gate.cols);
    }
  });
}

void add(Lane& lane, const AddArgs& args) {
  lane.team->run(args.y.rows, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      const float weight = args.gate.data == nullptr ? 1.0f : sigmoid32(args.gate.row(r)[0]);
      float* y = args.y.row(r);
      const float* x = args.x.row(r);
      for (int64_t c = 0; c < args.y.cols; ++c) y[c] = fma32(weight, x[c], y[c]);
    }
  });
}

void clamp(Lane& lane, const ClampArgs& args) {
  lane.team->run(args.x.rows, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      float* x = args.x.row(r);
      for (int64_t c = 0; c < args.x.cols; ++c) {
        const float low = x[c] < -args.limit ? -args.limit : x[c];
        x[c] = low > args.limit ? args.limit : low;
      }
    }
  });
}

void copy_heads(Lane& lane, const CopyHeadsArgs& args) {
  lane.team->run(args.x.rows, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t h = 0; h < args.n_heads; ++h) {
        const float* from = args.x.row(r) + h * args.x_head + args.x_first;
        __builtin_memcpy(args.y.row(r) + h * args.y_head + args.y_first, from,
                         static_cast<size_t>(args.count) * sizeof(float));
      }
    }
  });
}
