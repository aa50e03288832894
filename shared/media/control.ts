import { z } from 'zod'
import { cameraMeasure } from './camera-measure.ts'
import type { DeviceAddress } from '../device-address.ts'
import { deviceErrorKinds } from '../device.ts'
import { limits } from '../limits.ts'
import type { Handlers, NotificationName, Params, RequestName, Result } from './control-link.ts'
import { remoteOutSchema, remoteRoomSchema, maxTicket } from './remote-media.ts'
import { ffmpegAskSchema, ffmpegTellSchema } from './ffmpeg.ts'
import { mediaSettingsSchema } from './media-settings.ts'
import { nodeRoomSchema } from './node-room.ts'
import { roomMediaMethods } from './room-media.ts'
import { roomUserSchema } from './room-user.ts'
import { recorderEventSchema, recordingOrderSchema } from '../recordings/segment.ts'
import { waitingPersonSchema } from './signal.ts'
import { connectionStats, keyPicture, streamStats } from './stream-stats.ts'
import { shortcoming, trackReasons, transcodingStatus, trackWays } from './transcoding.ts'

/**
 * Messages between the controller and a media program, by direction: `mediaMethods` are sent by the controller, `controllerMethods` by the program. A message with a result is a
 * request, which is answered once; all others are notifications, which arrive in order. See ControlLink.
 */

/** Version of these messages; both sides belong to one build. */
export const controlVersion = 1

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)

/** A user who was removed from a room, and is refused for a while and with every link made before; or revoked links of a room. */
const removalSchema = z.strictObject({
  roomId: z.string(),
  /** Empty: nobody was removed; one link is revoked, or every link of the room made before `at`. */
  userId: z.string(),
  /** Id of their personal link; empty: none. */
  tokenId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  until: z.number(),
})
export type Removal = z.output<typeof removalSchema>

/** An outgoing user of the site, whose id is reserved in its room. */
const outgoingIdSchema = z.strictObject({
  userId,
  /** Empty: the outgoing user was deleted. */
  roomId: z.string().max(128),
})
export type OutgoingId = z.output<typeof outgoingIdSchema>

/** Maximum number of removals of users that are remembered: the latest of a site, and of one room. */
export const maxRemovals = 10_000
export const maxRemovalsOfRoom = 200
/** Maximum number of ended links that are remembered: more than the site stores, and those of earlier versions. */
export const maxEndedLinks = limits.joinRecords + 20_000

/** PEM texts. */
const certificate = z.strictObject({ cert: z.string(), key: z.string() })

/** First request to the process. */
export const startSchema = z.strictObject({
  version: z.literal(controlVersion),
  host: z.string().min(1).max(253),
  /** HTTP and WebSocket; 0 picks a free one. */
  port: z.int().min(0).max(65_535),
  /** UDP port of all WebRTC; 0: the number of `port` if it is free. */
  udp_port: z.int().min(0).max(65_535).default(0),
  /** PEM texts for HTTPS; undefined: plain HTTP. */
  tls: certificate.optional(),
  /** Beside plain HTTP: for pages that were opened at https before TLS was switched off. */
  former_tls: certificate.optional(),
  /** Key of join links, base64 of at least 32 bytes. */
  token_key: z.string().min(43),
  /** Key (base64) of the proofs on requests that other controllers forward, and the id of this controller; undefined: no other controllers. */
  passed_on: z.strictObject({ key: z.string().min(43), self: z.string(), tls: certificate.optional() }).optional(),
  /** Folder of the built room page; empty: no page. */
  page_folder: z.string().default(''),
  /** Folder of recordings, which exists; empty: nothing can be recorded. */
  recordings_folder: z.string().default(''),
  settings: mediaSettingsSchema.prefault({}),
  /** Removals from before this process started, which stay in force. */
  removals: z
    .array(removalSchema)
    .max(maxRemovals + maxEndedLinks)
    .optional(),
  /** Outgoing users of every room of the site. */
  outgoing: z.array(outgoingIdSchema).optional(),
})
export type MediaStart = z.output<typeof startSchema>

const room = nodeRoomSchema.extend({
  /** Its media is remote: this program lets people in, and sends calls on media to the controller. */
  remote: z.boolean().optional(),
})
const login = z.strictObject({ name: z.string(), password: z.string() })
/** As `parseDeviceAddress` made it: the program checks the shape only. */
const deviceAddress = z.strictObject({
  address: z.string().min(1).max(limits.userAddress),
  canonical: z.string().min(1),
  origin: z.string().min(1),
  login: login.optional(),
  requestUrl: z.string().min(1),
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  secure: z.boolean(),
}) satisfies z.ZodType<DeviceAddress>
const device = z.strictObject({
  userId,
  userName: z.string(),
  address: deviceAddress,
  /** Left out: it has no second stream. */
  assistAddress: deviceAddress.optional(),
  login: login.optional(),
  /** Its outdated TLS is accepted. */
  oldTls: z.boolean().optional(),
})

/** A camera to look at, which need not be in a room. */
const lookedAt = device.pick({ address: true, login: true, oldTls: true })

/** A track of a camera found by a probe. */
const track = z.strictObject({
  kind: z.enum(['video', 'audio']),
  codec: z.string(),
  detail: z.string(),
  carried: z.boolean(),
  /** Picture size in pixels, if the camera describes it. */
  width: z.int().optional(),
  height: z.int().optional(),
  way: z.enum(trackWays),
  /** Reason why browsers cannot play it unchanged; null: they can. */
  reason: z.enum(trackReasons).nullable(),
})

const nothing = z.strictObject({})
/** Result of a request that only confirms. */
const done = z.undefined()

/** Reasons why the controller does not let a user into a room here; `elsewhere`: they may join on another node. */
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

/** Reasons why somebody who waits is not let in or written to; null: done. */
const waitingRefusal = z.enum(['notWaiting', 'locked', 'roomFull', 'failed']).nullable()
export type WaitingRefusal = NonNullable<z.output<typeof waitingRefusal>>

/** A user whose act is reported. */
const doer = z.strictObject({ userId: z.string(), userName: z.string() })
export type Doer = z.output<typeof doer>
/** Acts of hosts that are reported to the controller, which does not perform them. */
const hostActs = ['letIn', 'turnedAway', 'mutedAll', 'ended', 'removed'] as const
export type HostAct = (typeof hostActs)[number]

/** Proof of a user who joins a room: a link, which the node has verified; a host password or the bare number, which the controller checks. */
const roomProof = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('link') }),
  z.strictObject({ by: z.literal('password'), password: z.string() }),
  /** `was_in`: the user was in the room a moment ago, so a lock does not keep them out. */
  z.strictObject({ by: z.literal('number'), was_in: z.boolean().optional() }),
])
export type RoomProof = z.output<typeof roomProof>

/** When a scheduled room opens, and its meeting starts, in milliseconds since the epoch. */
const openingSchema = z.strictObject({ opensAt: z.number(), startsAt: z.number() })

/** Facts about a room before joining: for strangers the same for a room closed to numbers and for an unknown room. */
const roomLookSchema = z.strictObject({
  /** The number is enough to join. */
  by_number: z.boolean(),
  /** The number is enough, and the host password makes a host. */
  host_password: z.boolean(),
  /** Topic of the room; empty if the stranger may not join. */
  topic: z.string(),
  /** Left out: the room is open, or its opening is unknown. */
  opening: openingSchema.optional(),
  /** People in the room. Left out: the request had no valid link. `names`: those of the first people. Left out: the link alone does not admit. */
  people: z.strictObject({ count: z.int(), names: z.array(z.string()).optional() }).optional(),
  /** For the holder of a valid link only. */
  refusal: z.literal('deleted').optional(),
})
export type RoomLook = z.output<typeof roomLookSchema>
/** Attempts refused by the node itself: a link that is forged, expired or for another room; a wrong host password; too many attempts. */
const guessKinds = ['badLink', 'hostPasswordWrong', 'tooMany'] as const
export type GuessKind = (typeof guessKinds)[number]

/** Load of the process since it started: see NodeLoad. */
const load = z.strictObject({
  uptime_ms: z.number(),
  cpu_ms: z.number(),
  memory: z.int(),
  bytes_in: z.number(),
  bytes_out: z.number(),
  dropped: z.strictObject({ viewers: z.int(), conversion: z.int() }),
})

/** Messages to the media program. */
export const mediaMethods = {
  start: { params: startSchema, result: z.strictObject({ port: z.int(), udp_port: z.int() }) },
  set_settings: { params: mediaSettingsSchema, result: done },
  /** The program ends in order. */
  stop: { params: nothing },
  /** A message about ffmpeg. */
  ffmpeg: { params: ffmpegTellSchema },
  /** The controller still leads its site: see `lease_ms` of the settings. */
  leads: { params: nothing, result: done },
  /** Replaces the certificate of a listener with TLS, for new connections. */
  set_certificate: { params: certificate, result: done },
  /** Open connections of the listener. */
  connections: { params: nothing, result: z.strictObject({ connections: z.int() }) },
  /** A user was removed from a room on another node; the room may move here. */
  note_removal: { params: removalSchema, result: done },
  /** An outgoing user was created, moved or deleted. */
  note_outgoing: { params: outgoingIdSchema, result: done },
  open_room: { params: room, result: done },
  /** `moves`: the room moves to another node, and its users are to follow. `remote`: closes it only while its media is remote; it may be this node's own by now. */
  close_room: {
    params: z.strictObject({ roomId, moves: z.boolean().optional(), remote: z.boolean().optional() }),
    result: done,
  },
  /** Displayed height for the viewer of a WHEP session, in device pixels; 0: hidden. */
  show: {
    params: z.strictObject({ session: z.string(), height: z.int().min(0) }),
    result: z.strictObject({ there: z.boolean() }),
  },
  /** Replaces the users and streams of a room with remote media. */
  set_remote_room: { params: remoteRoomSchema, result: done },
  /** Removes a user who joined through this process from such a room. */
  remove_remote_user: { params: remoteOutSchema, result: done },
  /** Mutes a person who joined through this process. `by`: user id of a host who joined on another node; empty: the operator. */
  mute: {
    params: z.strictObject({ roomId, userId, kind: z.enum(['audio', 'video']), by: z.string() }),
    /** false: no such person joined through this process. */
    result: z.strictObject({ muted: z.boolean() }),
  },
  /** Ends a session of remote media. */
  end_remote_media: { params: z.strictObject({ session: z.string() }), result: done },
  /** Lets in somebody who waits, or everybody, for the operator. `refusal`: why the first of those who are not in `people` stays outside. */
  admit_waiting: {
    params: z.strictObject({ roomId, userId: userId.optional() }),
    result: z.strictObject({ people: z.array(doer), refusal: waitingRefusal }),
  },
  /** Turns away somebody who waits, for the operator. */
  refuse_waiting: {
    params: z.strictObject({ roomId, userId }),
    result: z.strictObject({ people: z.array(doer), refusal: waitingRefusal }),
  },
  /** Shows a text to somebody who waits, or to everybody. `reached`: those who are connected. */
  message_waiting: {
    params: z.strictObject({
      roomId,
      userId: userId.optional(),
      from: z.string().max(256),
      text: z.string().max(1_000),
    }),
    result: z.strictObject({ reached: z.int() }),
  },
  /** Latest key picture of a stream; null: none. */
  key_picture: {
    params: z.strictObject({ roomId, streamId: z.string() }),
    result: z.strictObject({ picture: keyPicture.nullable() }),
  },
  /** Measurements of a camera of a room; null: it is not measured here. */
  camera_quality: {
    params: z.strictObject({ roomId, streamId: z.string() }),
    result: z.strictObject({
      quality: z.strictObject({ now: cameraMeasure.nullable(), minutes: z.array(cameraMeasure) }).nullable(),
    }),
  },
  /** Clocks of the cameras in all rooms, less that of this machine, in milliseconds. Those of cameras that tell none are left out. */
  camera_clocks: {
    params: z.strictObject({}),
    result: z.strictObject({ clocks: z.array(z.strictObject({ streamId: z.string(), ahead_ms: z.number() })) }),
  },
  /** A picture of a camera that need not be in a room. */
  camera_still: {
    params: lookedAt,
    result: z.strictObject({
      picture: keyPicture.nullable(),
      /** Reason of a missing picture; null: there is one. codec: browsers cannot show it, and ffmpeg is missing. */
      missing: z.enum(['codec', 'failed']).nullable(),
    }),
  },
  users: { params: z.strictObject({ roomId }), result: z.strictObject({ users: z.array(roomUserSchema) }) },
  kick: { params: z.strictObject({ roomId, userId }), result: z.strictObject({ kicked: z.boolean() }) },
  /** `leftMs`: milliseconds until the caller gives up. A device whose media does not flow by then fails with `timeout`. */
  add_device: { params: z.strictObject({ roomId, device, leftMs: z.int().min(1) }), result: done },
  remove_device: { params: z.strictObject({ roomId, userId }), result: done },
  /** Replaces what is recorded of a room, until the room is closed here. It may come before the room is opened. `recorder` events follow. */
  set_recording: { params: recordingOrderSchema, result: done },
  rooms: { params: nothing, result: z.strictObject({ roomIds: z.array(z.string()) }) },
  health: { params: nothing, result: z.strictObject({ rooms: z.int(), users: z.int(), pulls: z.int(), load }) },
  transcoding: { params: nothing, result: transcodingStatus },
  probe: {
    params: lookedAt,
    result: z.strictObject({
      ok: z.boolean(),
      /** Reason of the failure; null: success. */
      kind: z.enum(deviceErrorKinds).nullable(),
      message: z.string(),
      /** What the camera answered to what; empty: nothing more is known. */
      detail: z.string(),
      milliseconds: z.number(),
      tracks: z.array(track),
      /** IP address of the camera that answered; empty: none did. */
      address: z.string(),
    }),
  },
  stats: {
    /** Default: every room. */
    params: z.strictObject({ roomId: roomId.optional() }),
    result: z.strictObject({ streams: z.array(streamStats), connections: z.array(connectionStats) }),
  },
} as const

/** Messages to the controller. */
export const controllerMethods = {
  /** The program takes requests from now on. */
  hello: { params: z.strictObject({ version: z.int() }) },
  /** A message about ffmpeg. */
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
  /** Not everything that a device or person in a room sends is shown, heard and recorded. */
  streamShort: {
    params: z.strictObject({ roomId: z.string(), userId: z.string(), shortcomings: z.array(shortcoming) }),
  },
  /** A user requests to join a room that is not open here, or that only the controller can admit them to. With `refusal: null` the room is open now, and the user may join. */
  enter_room: {
    params: z.strictObject({
      roomId: z.string(),
      proof: roomProof,
      /** Client address. */
      client: z.string(),
    }),
    result: z.strictObject({
      refusal: z.enum(roomRefusals).nullable(),
      /** URL of the room's node if the refusal is `elsewhere`, e.g. `http://10.0.0.5:7084`. */
      url: z.string().max(600).optional(),
      /** For `notOpenYet`. */
      opening: openingSchema.optional(),
    }),
  },
  /** A visitor opened the page of a room, with a valid link of this role or without one. The room is not opened. */
  look_at_room: {
    params: z.strictObject({
      roomId: z.string(),
      client: z.string(),
      role: z.enum(['member', 'host', 'observer']).optional(),
    }),
    result: roomLookSchema,
  },
  /** A host locks or unlocks a room; the controller stores that. */
  lock_room: {
    params: z.strictObject({ roomId: z.string(), locked: z.boolean(), by: doer }),
    result: z.strictObject({ done: z.boolean() }),
  },
  /** A host requests a join link for anybody. `link`: id of the link by which the host came; left out for the host password. Without `url`, none can be made now. */
  make_invitation: {
    params: z.strictObject({ roomId: z.string(), by: doer, link: z.string().max(64).optional() }),
    result: z.strictObject({ url: z.string().optional() }),
  },
  /** A host starts or stops the recording of a room. */
  record_room: {
    params: z.strictObject({ roomId: z.string(), on: z.boolean(), by: doer }),
    result: z.strictObject({ done: z.boolean() }),
  },
  /** Requests on the media of a room whose media is remote: see RoomMedia. */
  ...roomMediaMethods,
  /** A host acted. `who`: the affected user, if it is a single one. `count`: number of affected users. */
  hostActed: {
    params: z.strictObject({
      roomId: z.string(),
      act: z.enum(hostActs),
      by: doer,
      who: doer.optional(),
      count: z.int(),
    }),
  },
  /** Everybody who waits before a room, in order of arrival; sent after changes, at most a few times a second. */
  waiting: { params: z.strictObject({ roomId: z.string(), people: z.array(waitingPersonSchema) }) },
  /** A user joined a room with remote media, or became host there. `ticket`: resumes media that they already send or watch. */
  remoteEntered: {
    params: z.strictObject({ roomId: z.string(), user: roomUserSchema, ticket: z.string().max(maxTicket) }),
  },
  /**
   * A user left such a room. `kicked`: a host removed them; `ended`: the host ended the meeting, and they may rejoin. Both also for users who did not join through this
   * process. `restarting`: the process restarts; their media continues, and they may rejoin in a moment.
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
  /** A user of such a room is muted or unmuted. `by`: id of the host who muted them; empty: themselves. */
  remoteMuted: {
    params: z.strictObject({
      roomId: z.string(),
      userId: z.string(),
      kind: z.enum(['audio', 'video']),
      muted: z.boolean(),
      by: z.string(),
    }),
  },
  /** Attempts that the node refused since the last such message, without the values tried; at most one message a second. */
  guesses: {
    params: z.strictObject({
      groups: z
        .array(
          z.strictObject({
            kind: z.enum(guessKinds),
            path: z.enum(['/signal', '/whip', '/whep', '/entry']),
            /** Client address. */
            client: z.string(),
            /** Empty: several. */
            roomId: z.string(),
            count: z.int().min(1),
          }),
        )
        .max(64),
      /** Number of attempts outside of all groups, because there were too many. */
      more: z.int().min(0),
    }),
  },
  /** A device opened the page by which it shows that it reaches this machine. */
  pageReached: { params: z.strictObject({ token: z.string().max(64), client: z.string().max(128) }) },
  /** Something of a recording began or ended. */
  recorder: { params: z.strictObject({ event: recorderEventSchema }) },
  /** The controller or a host removed a user; `left` follows. */
  removed: { params: removalSchema.extend({ userName: z.string(), by: doer.optional() }) },
} as const

type MediaMethods = typeof mediaMethods
type ControllerMethods = typeof controllerMethods

/** Requests of the controller. */
export type ControlMethod = RequestName<MediaMethods>
export type ControlParams<M extends keyof MediaMethods> = Params<MediaMethods, M>
export type ControlResult<M extends ControlMethod> = Result<MediaMethods, M>
export type MediaHandlers = Handlers<MediaMethods>

/** Parameters of a message of the media program. */
export type ReportParams<M extends keyof ControllerMethods> = Params<ControllerMethods, M>
export type ReportResult<M extends RequestName<ControllerMethods>> = Result<ControllerMethods, M>
export type ControllerHandlers = Handlers<ControllerMethods>

/** The controller, for the media program. */
export interface Controller {
  /** @throws the error of the controller; the signal's reason */
  request<M extends RequestName<ControllerMethods>>(
    method: M,
    params: ReportParams<M>,
    signal: AbortSignal,
  ): Promise<ReportResult<M>>
  notify<M extends NotificationName<ControllerMethods>>(method: M, params: ReportParams<M>): void
}
