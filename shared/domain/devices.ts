import { z } from 'zod'
import { deviceErrorKinds, deviceStates } from '../device.ts'
import { limits } from '../limits.ts'
import { bytes, nameBytes } from '../operation.ts'
import { tagsSchema } from '../tags.ts'
import { recordVersion } from './record-version.ts'
import { fieldProblem, moment } from './outcome.ts'
import { trackReasons, trackWays } from '../media/transcoding.ts'
import { roomId, userId } from './ids.ts'

/** Device as shown in the console, without its password. */
export const deviceView = z.strictObject({
  roomId: z.string(),
  /** Topic of the device's room; empty: the room was deleted. */
  roomTopic: z.string(),
  userId: z.string(),
  userName: z.string(),
  userAddress: z.string(),
  userData: z.string(),
  /** Options without login_password; "******" stands for an existing password. */
  options: z.record(z.string(), z.unknown()),
  tags: z.array(z.string()),
  state: z.enum(deviceStates),
  /**
   * Reason why the device is not joined; null: it is joined, or no attempt has failed yet. `detail`: response of the
   * device, with the request; empty: unknown.
   */
  last_error: z
    .strictObject({ kind: z.enum(deviceErrorKinds), message: z.string(), detail: z.string(), at: moment })
    .nullable(),
  /** Number of failed attempts since the last join. */
  retries: z.int(),
  /** Time of the next attempt; 0: none. */
  next_attempt_at: moment,
  /** Start of the state. Joining and waiting alternate, and count as one state. */
  since: moment,
  created_at: moment,
  version: recordVersion,
})
export type DeviceView = z.output<typeof deviceView>

/** History entry of a device: a join, a pause, or consecutive attempts that failed for the same reason. */
export const deviceMoment = z.strictObject({
  state: z.enum(['joined', 'waiting', 'paused']),
  /** Reason of a failed join; null: another state. */
  kind: z.enum(deviceErrorKinds).nullable(),
  at: moment,
  /** Time of the last repetition. */
  until: moment,
  /** Number of repetitions, from `at` to `until`. */
  times: z.int(),
})
export type DeviceMoment = z.output<typeof deviceMoment>
export const deviceInput = z.strictObject({
  roomId,
  /** Id of the device; undefined: a generated id. */
  userId: nameBytes(1, limits.userId).optional(),
  userName: nameBytes(1, limits.userName),
  /** Address, which may contain user:password@; the login is removed from it. */
  userAddress: bytes(1, limits.userAddress),
  userData: bytes(0, limits.userData).default(''),
  login_name: bytes(0, limits.loginName).optional(),
  login_password: bytes(0, limits.loginPassword).optional(),
  assist_address: bytes(0, limits.userAddress).optional(),
  /** Whether to accept outdated TLS (1.0, 1.1, weak keys) from this device. */
  old_tls: z.boolean().optional(),
  tags: tagsSchema.optional(),
})

/** Camera to inspect without adding it. */
export const source = z.strictObject({
  userAddress: bytes(1, limits.userAddress),
  login_name: bytes(0, limits.loginName).optional(),
  login_password: bytes(0, limits.loginPassword).optional(),
  /** Whether to accept outdated TLS (1.0, 1.1, weak keys). */
  old_tls: z.boolean().optional(),
  /** Id of an existing device. Its stored login is the default, but only for the hosts for which it was stored. */
  userId: userId.optional(),
})

export const probedCamera = source.extend({
  /** Known substream; undefined or empty: the probe searches for one. */
  assist_address: bytes(0, limits.userAddress).optional(),
})
export type ProbedCamera = z.output<typeof probedCamera>

export const probeResult = z.strictObject({
  ok: z.boolean(),
  /** Reason of a failure; null: success. */
  kind: z.enum(deviceErrorKinds).nullable(),
  message: z.string(),
  /** Response of the device, with the request; empty: unknown. */
  detail: z.string(),
  milliseconds: z.number(),
  tracks: z.array(
    z.strictObject({
      kind: z.string(),
      codec: z.string(),
      detail: z.string(),
      /** Whether the track is sent into a room. */
      carried: z.boolean(),
      way: z.enum(trackWays),
      reason: z.enum(trackReasons).nullable(),
      /** Size of the picture in pixels; undefined: not reported by the device. */
      width: z.int().optional(),
      height: z.int().optional(),
    }),
  ),
  /** Substream of the same device, found at its manufacturer's usual path; null: none. */
  second: z.strictObject({ address: z.string(), width: z.int(), height: z.int() }).nullable(),
  /** Whether the result is simulated, because no node can probe real devices. */
  simulated: z.boolean(),
})
export type ProbeResult = z.output<typeof probeResult>
export const importLine = z.strictObject({
  line: z.int(),
  userId: z.string(),
  userName: z.string(),
  roomId: z.string(),
  action: z.enum(['create', 'update', 'unchanged', 'error']),
  message: z.string(),
  /** Reason why the line is rejected, with the field; undefined: accepted. */
  problem: fieldProblem.optional(),
})
export type ImportLine = z.output<typeof importLine>
