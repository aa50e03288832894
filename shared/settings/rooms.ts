import { integer } from './setting.ts'

/** Default values of new rooms, for fields that the client omits. */
export const roomDefaults = {
  attendee_max: integer(
    { range: [1, 10_000], unit: 'count', default: 100 },
    { card: 'rooms', order: 1, access: 'open', restarts: 'nothing' },
  ),
  max_video: integer(
    { range: [0, 10_000], unit: 'count', default: 16 },
    { card: 'rooms', order: 2, access: 'open', restarts: 'nothing' },
  ),
  max_audio: integer(
    { range: [0, 10_000], unit: 'count', default: 16 },
    { card: 'rooms', order: 3, access: 'open', restarts: 'nothing' },
  ),
}

const deadline = { range: [50, 60_000], unit: 'ms' } as const

export const deadlines = {
  /**
   * Time limit of the store. If it is exceeded, a change of the media API returns 700, and an authentication 504
   * (contract, section 2).
   */
  store_ms: integer(
    { ...deadline, default: 5_000 },
    { card: 'deadlines', order: 1, access: 'open', restarts: 'nothing' },
  ),
  /** Time limit of a node's response. Public clients abandon a request after 5 s (contract, section 3: 409). */
  node_ms: integer(
    { ...deadline, default: 4_000 },
    { card: 'deadlines', order: 2, access: 'open', restarts: 'nothing' },
  ),
  /** Time limit for a device's first media packet (contract, section 4: 427). */
  device_ms: integer(
    { ...deadline, default: 4_000 },
    { card: 'deadlines', order: 3, access: 'open', restarts: 'nothing' },
  ),
  /** Time limit of one health poll of a node. */
  health_ms: integer(
    { ...deadline, default: 2_000 },
    { card: 'deadlines', order: 4, access: 'open', restarts: 'nothing' },
  ),
  /** Interval between health polls of a node. */
  health_interval_ms: integer(
    { ...deadline, default: 2_000 },
    { card: 'deadlines', order: 5, access: 'open', restarts: 'nothing' },
  ),
  /** Maximum time for which active requests may continue when the controller stops. */
  shutdown_ms: integer(
    { ...deadline, default: 5_000 },
    { card: 'deadlines', order: 6, access: 'open', restarts: 'nothing' },
  ),
}

/** Delays between attempts to join a device: the first delay, doubled up to the maximum (contract, section 4). */
export const devices = {
  reconnect_first_ms: integer(
    { range: [10, 60_000], unit: 'ms', default: 1_000 },
    { card: 'devices', order: 1, access: 'open', restarts: 'nothing' },
  ),
  reconnect_longest_ms: integer(
    { range: [10, 3_600_000], unit: 'ms', default: 30_000 },
    { card: 'devices', order: 2, access: 'open', restarts: 'nothing' },
  ),
  /**
   * Time for which a device must stay joined to reset the backoff: if lost later, it is retried after the first delay.
   * If it is lost earlier, the delays continue to grow.
   */
  reconnect_steady_ms: integer(
    { range: [0, 3_600_000], unit: 'ms', default: 30_000 },
    { card: 'devices', order: 3, access: 'open', restarts: 'nothing' },
  ),
}
