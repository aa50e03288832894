import { z } from 'zod'
import { deviceErrorKinds } from '../device.ts'
import { recorderEventSchema } from '../recordings/segment.ts'
import { doer, removalSchema } from './control.ts'
import type { ControlHandlers, NotificationName, Params, RequestName, Result } from './control-link.ts'
import { ffmpegAskSchema } from './ffmpeg.ts'
import { maxTicket } from './remote-media.ts'
import { roomMediaMethods } from './room-media.ts'
import { roomUserSchema } from './room-user.ts'
import { waitingPersonSchema } from './signal.ts'
import { maxTestPeople } from './test-people.ts'
import { shortcoming } from './transcoding.ts'

/**
 * Reasons why the controller does not admit a user to a room on this node. `elsewhere`: the user may join on another
 * node.
 */
const roomRefusals = [
  'noRoom',
  'notOpenYet',
  'hostPasswordWrong',
  'unauthorised',
  'locked',
  'busy',
  'elsewhere',
] as const
export type RoomRefusal = (typeof roomRefusals)[number]

/** Actions of hosts that the node performs itself and reports to the controller. */
const hostActs = ['letIn', 'turnedAway', 'mutedAll', 'ended', 'removed'] as const
export type HostAct = (typeof hostActs)[number]

/**
 * Proof of a user who joins a room: a link, which the node has verified; the host password or only the number, which
 * the controller checks.
 */
const roomProof = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('link') }),
  z.strictObject({ by: z.literal('password'), password: z.string() }),
  /** `was_in`: the user was in the room until recently, so a lock does not exclude the user. */
  z.strictObject({ by: z.literal('number'), was_in: z.boolean().optional() }),
])
export type RoomProof = z.output<typeof roomProof>

/** Opening time of a scheduled room, and start of its meeting, in milliseconds since the epoch. */
const openingSchema = z.strictObject({ opensAt: z.number(), startsAt: z.number() })

/**
 * Facts about a room, shown before joining. For an unknown room and for a room that its number does not open, strangers
 * receive the same response.
 */
const roomLookSchema = z.strictObject({
  /** Whether the number is enough to join. */
  by_number: z.boolean(),
  /** Whether the room can be joined by number, and has a host password. */
  host_password: z.boolean(),
  /** Topic of the room; empty: the stranger may not join. */
  topic: z.string(),
  /** Opening time; undefined: the room is open, or its opening time is unknown. */
  opening: openingSchema.optional(),
  /**
   * People in the room; undefined: the request contained no valid link. `names`: names of the first people; undefined:
   * the link alone does not admit its holder now.
   */
  people: z.strictObject({ count: z.int(), names: z.array(z.string()).optional() }).optional(),
  /** Refusal of a valid link; undefined: none. */
  refusal: z.literal('deleted').optional(),
})
export type RoomLook = z.output<typeof roomLookSchema>
/**
 * Kinds of attempts that the node rejects itself. badLink: a link that is forged, expired or for another room; tooMany:
 * too many attempts from one address.
 */
const guessKinds = ['badLink', 'hostPasswordWrong', 'tooMany'] as const
export type GuessKind = (typeof guessKinds)[number]

/** Messages to the controller. */
export const controllerMethods = {
  /** The program is ready for requests. */
  hello: { params: z.strictObject({ version: z.int() }) },
  ffmpeg: { params: ffmpegAskSchema },
  log: {
    params: z.strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error']),
      message: z.string(),
      detail: z.string(),
    }),
  },
  joined: { params: z.strictObject({ roomId: z.string(), user: roomUserSchema }) },
  left: { params: z.strictObject({ roomId: z.string(), userId: z.string() }) },
  deviceLost: {
    params: z.strictObject({
      roomId: z.string(),
      userId: z.string(),
      kind: z.enum(deviceErrorKinds),
      detail: z.string(),
    }),
  },
  /** Part of the media of a device or person in a room is not visible, not audible or not recorded. */
  streamShort: {
    params: z.strictObject({ roomId: z.string(), userId: z.string(), shortcomings: z.array(shortcoming) }),
  },
  /**
   * A user requests to join a room that is not open on this node, or to which only the controller can admit the user.
   * With `refusal: null`, the room is now open and the user may join.
   */
  enter_room: {
    params: z.strictObject({
      roomId: z.string(),
      proof: roomProof,
      client: z.string(),
    }),
    result: z.strictObject({
      refusal: z.enum(roomRefusals).nullable(),
      /** URL of the room's node if the refusal is `elsewhere`, e.g. `http://10.0.0.5:7084`. */
      url: z.string().max(600).optional(),
      /** Opening time, with the refusal `notOpenYet`. */
      opening: openingSchema.optional(),
    }),
  },
  /**
   * A visitor opened the page of a room. `role`: role of the visitor's valid link; undefined: no link. This does not
   * open the room.
   */
  look_at_room: {
    params: z.strictObject({
      roomId: z.string(),
      client: z.string(),
      role: z.enum(['member', 'host', 'observer']).optional(),
    }),
    result: roomLookSchema,
  },
  /** A host locks or unlocks a room. The controller stores the change. */
  lock_room: {
    params: z.strictObject({ roomId: z.string(), locked: z.boolean(), by: doer }),
    result: z.strictObject({ done: z.boolean() }),
  },
  /**
   * A host requests a join link for other people. `link`: id of the host's own link; undefined: the host used the
   * password. `url` in the result: the link; undefined: none can be created now.
   */
  make_invitation: {
    params: z.strictObject({ roomId: z.string(), by: doer, link: z.string().max(64).optional() }),
    result: z.strictObject({ url: z.string().optional() }),
  },
  /**
   * A test person of the lab requests the token of a join link. The controller makes one only for a group of the site.
   * `problem`: reason why there is none; empty: there is one.
   */
  test_person_entry: {
    params: z.strictObject({ group: z.string().max(40), number: z.int().min(1).max(maxTestPeople) }),
    result: z.strictObject({ room_id: z.string(), token: z.string(), problem: z.string() }),
  },
  /** A host starts or stops the recording of a room. */
  record_room: {
    params: z.strictObject({ roomId: z.string(), on: z.boolean(), by: doer }),
    result: z.strictObject({ done: z.boolean() }),
  },
  /** Requests on the media of a room whose media is on another node: see RoomMedia. */
  ...roomMediaMethods,
  /** Reports an action of a host. `who`: the affected user; undefined: several. `count`: number of affected users. */
  hostActed: {
    params: z.strictObject({
      roomId: z.string(),
      act: z.enum(hostActs),
      by: doer,
      who: doer.optional(),
      count: z.int(),
    }),
  },
  /** All people waiting for a room, in order of arrival. Sent after changes, at most a few times per second. */
  waiting: { params: z.strictObject({ roomId: z.string(), people: z.array(waitingPersonSchema) }) },
  /**
   * A user joined a room whose media is on another node, or became host in such a room. `ticket`: resumes media that
   * the user already sends or watches.
   */
  remoteEntered: {
    params: z.strictObject({ roomId: z.string(), user: roomUserSchema, ticket: z.string().max(maxTicket) }),
  },
  /**
   * A user left a room with remote media. `kicked`: a host removed the user. `ended`: the host ended the meeting, and
   * the user may rejoin. Both are also sent for users who did not join through this process. `restarting`: this process
   * restarts; the user's media continues, and the user may rejoin shortly.
   */
  remoteLeft: {
    params: z.strictObject({
      roomId: z.string(),
      userId: z.string(),
      kicked: z.boolean(),
      ended: z.boolean(),
      restarting: z.boolean(),
    }),
  },
  /**
   * A user of a room with remote media was muted or unmuted. `by`: id of the host who muted the user; empty: the user.
   */
  remoteMuted: {
    params: z.strictObject({
      roomId: z.string(),
      userId: z.string(),
      kind: z.enum(['audio', 'video']),
      muted: z.boolean(),
      by: z.string(),
    }),
  },
  /**
   * Attempts that the node rejected since the previous message of this type, without the values tried. At most one
   * message per second.
   */
  guesses: {
    params: z.strictObject({
      groups: z
        .array(
          z.strictObject({
            kind: z.enum(guessKinds),
            path: z.enum(['/signal', '/whip', '/whep', '/entry']),
            client: z.string(),
            /** Room of the attempts; empty: several rooms. */
            roomId: z.string(),
            count: z.int().min(1),
          }),
        )
        .max(64),
      /** Number of further attempts that are not in `groups`, because there were too many. */
      more: z.int().min(0),
    }),
  },
  /** A device opened the page that tests whether the device reaches this machine. */
  pageReached: { params: z.strictObject({ token: z.string().max(64), client: z.string().max(128) }) },
  /** Event of a recording, e.g. its start or end. */
  recorder: { params: z.strictObject({ event: recorderEventSchema }) },
  /** The controller or a host removed a user. `left` follows. */
  removed: { params: removalSchema.extend({ userName: z.string(), by: doer.optional() }) },
} as const

type ControllerMethods = typeof controllerMethods

/** Parameters of a message of the media program. */
export type ReportParams<M extends keyof ControllerMethods> = Params<ControllerMethods, M>
export type ReportResult<M extends RequestName<ControllerMethods>> = Result<ControllerMethods, M>
export type ControllerHandlers = ControlHandlers<ControllerMethods>

/** Connection to the controller, as used by the media program. */
export interface ControllerEnd {
  /** Sends a request and waits for its response. @throws the error of the controller; the signal's reason */
  request<M extends RequestName<ControllerMethods>>(
    method: M,
    params: ReportParams<M>,
    signal: AbortSignal,
  ): Promise<ReportResult<M>>
  notify<M extends NotificationName<ControllerMethods>>(method: M, params: ReportParams<M>): void
}
