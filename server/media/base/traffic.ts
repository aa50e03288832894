import type { ControlResult } from '../../../shared/media/control.ts'

/** Bytes of media of this process since it started: counted where packets pass, so that reading them costs nothing. */
export const traffic = {
  /** RTP and RTCP from browsers and encoders, and all that cameras send. */
  received: 0,
  /** RTP and RTCP to browsers, before encryption. */
  sent: 0,
}

/**
 * Media that full queues of this process left out since it started, by queue. `viewers`: packets for a crowd of viewers, beyond what this machine can send.
 * `conversion`: pictures and sound that ffmpeg did not take in time.
 */
export const dropped = { viewers: 0, conversion: 0 }

/** Load of this process since it started. */
export function processLoad(): ControlResult<'health'>['load'] {
  const { user, system } = process.cpuUsage()
  return {
    uptime_ms: performance.now(),
    cpu_ms: (user + system) / 1_000,
    memory: process.memoryUsage.rss(),
    bytes_in: traffic.received,
    bytes_out: traffic.sent,
    dropped: { ...dropped },
  }
}
