import type { ControlResult } from '../../../shared/media/control.ts'

/** Media bytes of this process since its start, counted as packets pass, so that reading the totals costs nothing. */
export const traffic = {
  /** RTP and RTCP from browsers and encoders, and all bytes from cameras. */
  received: 0,
  /** RTP and RTCP to browsers, before encryption. */
  sent: 0,
}

/**
 * Media dropped by full queues since the process started, by queue. `viewers`: packets that this machine could not send
 * to all viewers. `conversion`: pictures and sound that ffmpeg did not accept in time.
 */
export const dropped = { viewers: 0, conversion: 0 }

/** Returns the load of this process since its start. */
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
