import { z } from 'zod'
import { deviceErrorKinds } from '../device.ts'
import { remoteOutSchema, remoteRoomSchema, maxTicket } from './remote-media.ts'
import { ffmpegAskSchema, ffmpegTellSchema } from './ffmpeg.ts'
import { mediaSettingsSchema } from './media-settings.ts'
import { mediaOutcomeSchema, roomMediaCallSchema } from './room-media.ts'
import { roomUserSchema } from './room-user.ts'
import { connectionStats, keyPicture, streamStats } from './stream-stats.ts'
import { trackReasons, transcodingStatus, trackWays } from './transcoding.ts'

/** Messages between the controller and the process of the embedded node. Every request has an answer; events come in between, in their order. */

/** Version of these messages: both sides come out of one build. */
export const controlVersion = 1

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)

/** Somebody who was taken out of a room: refused for a while, and with every link that was made until then. Or links of a room that were revoked. */
const removalSchema = z.strictObject({
  roomId: z.string(),
  /** Empty: nobody was taken out; the one link is over, or every link of the room that was made until then. */
  userId: z.string(),
  /** Id of the link that was theirs alone; empty for none. */
  tokenId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  until: z.number(),
})
export type Removal = z.output<typeof removalSchema>

/** An outgoing user of the site, whose id is reserved in its room. */
const outgoingIdSchema = z.strictObject({
  userId,
  /** Empty: there is no such outgoing user any more. */
  roomId: z.string().max(128),
})
export type OutgoingId = z.output<typeof outgoingIdSchema>

/** Removals that a process is told of, at most: the latest. */
export const maxRemovals = 10_000

/** PEM texts. */
const certificate = z.strictObject({ cert: z.string(), key: z.string() })

/** First message to the process. */
export const startSchema = z.strictObject({
  version: z.literal(controlVersion),
  host: z.string().min(1).max(253),
  /** HTTP and WebSocket; 0 picks a free one. */
  port: z.int().min(0).max(65_535),
  /** WebRTC of everybody; 0: the same number as `port` where it is free. */
  udp_port: z.int().min(0).max(65_535).default(0),
  /** PEM texts for HTTPS; undefined: plain HTTP. */
  tls: certificate.optional(),
  /** Key of join links, base64 of at least 32 bytes. */
  token_key: z.string().min(43),
  /** For proofs of requests that other controllers pass on: their key, base64, and the id of this controller; left out: there are none. */
  passed_on: z.strictObject({ key: z.string().min(43), self: z.string(), tls: certificate.optional() }).optional(),
  /** Folder of the built room page; empty: none is served. */
  page_folder: z.string().default(''),
  settings: mediaSettingsSchema.prefault({}),
  /** Removals noted before this process started, which stay in force. */
  removals: z.array(removalSchema).max(maxRemovals).optional(),
  /** Those of every room, wherever it is. */
  outgoing: z.array(outgoingIdSchema).optional(),
})
export type MediaStart = z.output<typeof startSchema>

const room = z.strictObject({
  roomId,
  topic: z.string(),
  mode: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  hostPassword: z.string(),
  attendeeMax: z.int(),
  maxVideo: z.int(),
  maxAudio: z.int(),
  locked: z.boolean(),
  /** A host lets people in. */
  waitingRoom: z.boolean().optional(),
  /** Its media is another server's: this program only lets people in, and asks the controller for what concerns media. */
  carried: z.boolean().optional(),
})
const login = z.strictObject({ name: z.string(), password: z.string() })
const device = z.strictObject({
  userId,
  userName: z.string(),
  address: z.string().max(2_048),
  assistAddress: z.string().max(2_048),
  login: login.optional(),
})

/** A track of a camera, as its probe tells. */
const track = z.strictObject({
  kind: z.enum(['video', 'audio']),
  codec: z.string(),
  detail: z.string(),
  carried: z.boolean(),
  /** Size of the picture in pixels, where the camera describes it. */
  width: z.int().optional(),
  height: z.int().optional(),
  way: z.enum(trackWays),
  /** Why it does not go to every browser as it is; null when it does. */
  reason: z.enum(trackReasons).nullable(),
})

const nothing = z.strictObject({})

/** Why the controller does not let somebody into a room; `elsewhere`: they may enter, and its node is another one. */
const roomRefusals = ['noRoom', 'hostPasswordWrong', 'unauthorised', 'locked', 'busy', 'elsewhere'] as const
export type RoomRefusal = (typeof roomRefusals)[number]

/** Somebody in a room, as what they do there is told of. */
const doer = z.strictObject({ userId: z.string(), userName: z.string() })
export type Doer = z.output<typeof doer>
/** Acts of hosts that the controller is told of and does not carry out itself. */
const hostActs = ['letIn', 'turnedAway', 'mutedAll', 'ended', 'removed'] as const
export type HostAct = (typeof hostActs)[number]

/** With what somebody wants to enter a room: a link, which the node has checked; a host password, or nothing but the number, which the controller judges. */
const roomProof = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('link') }),
  z.strictObject({ by: z.literal('password'), password: z.string() }),
  /** `was_in`: as somebody who was in the room a moment ago, so that a lock does not keep them out. */
  z.strictObject({ by: z.literal('number'), was_in: z.boolean().optional() }),
])
export type RoomProof = z.output<typeof roomProof>

/** Facts that a stranger gets about a room before joining: the same for a room that its number does not open and for none. */
const roomLookSchema = z.strictObject({
  /** The number is enough to join. */
  by_number: z.boolean(),
  /** It is, and whoever gives the host password joins as host. */
  host_password: z.boolean(),
  /** Topic of the room; empty for a room that the stranger may not enter. */
  topic: z.string(),
})
export type RoomLook = z.output<typeof roomLookSchema>
/** Attempts that the node itself refused: a join link that is forged, expired or for another room; the password of a room that is open; or these and room numbers too often. */
const guessKinds = ['badLink', 'hostPasswordWrong', 'tooMany'] as const
export type GuessKind = (typeof guessKinds)[number]

/** Every request to the node, with what it answers. */
export const controlMethods = {
  start: { params: startSchema, result: z.strictObject({ port: z.int(), udp_port: z.int() }) },
  set_settings: { params: mediaSettingsSchema, result: nothing },
  /** The controller leads its site, still: see `lease_ms` of the settings. */
  leads: { params: nothing, result: nothing },
  /** Certificate of the listener, which speaks TLS already: for connections from now on. */
  set_certificate: { params: certificate, result: nothing },
  /** Open connections of the listener. */
  connections: { params: nothing, result: z.strictObject({ connections: z.int() }) },
  /** Somebody was taken out of a room on another node, to which it may come. */
  note_removal: { params: removalSchema, result: nothing },
  /** An outgoing user was made, moved or deleted. */
  note_outgoing: { params: outgoingIdSchema, result: nothing },
  open_room: { params: room, result: nothing },
  /** `moves`: it goes to another node, and its people are to follow. `carried`: it is meant as one whose media is another server's; it may be this node's own by now. */
  close_room: {
    params: z.strictObject({ roomId, moves: z.boolean().optional(), carried: z.boolean().optional() }),
    result: nothing,
  },
  /** The answer to `roomWanted`; null: the room is open now, and the caller may enter. */
  answer_room: {
    params: z.strictObject({
      id: z.int(),
      refusal: z.enum(roomRefusals).nullable(),
      /** For `elsewhere`: the node of the room, e.g. `http://10.0.0.5:7084`. */
      url: z.string().max(600).optional(),
    }),
    result: nothing,
  },
  /** The answer to `roomLooked`. */
  answer_look: { params: z.strictObject({ id: z.int(), look: roomLookSchema }), result: nothing },
  /** Height at which the viewer of a WHEP session shows the picture, in device pixels; 0: not at all. */
  show: {
    params: z.strictObject({ session: z.string(), height: z.int().min(0) }),
    result: z.strictObject({ there: z.boolean() }),
  },
  /** The answer to `lockWanted`. */
  answer_lock: { params: z.strictObject({ id: z.int(), done: z.boolean() }), result: nothing },
  /** The answer to `mediaRequested`. */
  answer_media: { params: z.strictObject({ id: z.int(), outcome: mediaOutcomeSchema }), result: nothing },
  /** Replaces who and what is in a room with remote media. */
  set_carried: { params: remoteRoomSchema, result: nothing },
  /** Somebody who came through this program is out of such a room. */
  carried_out: { params: remoteOutSchema, result: nothing },
  /** A host who came another way silences somebody who came through this program. */
  carried_muted: {
    params: z.strictObject({ roomId, userId, kind: z.enum(['audio', 'video']), by: z.string() }),
    result: nothing,
  },
  /** Media of such a room is over, by its name there. */
  carried_over: { params: z.strictObject({ session: z.string() }), result: nothing },
  /** null: there is none now. */
  key_picture: {
    params: z.strictObject({ roomId, streamId: z.string() }),
    result: z.strictObject({ picture: keyPicture.nullable() }),
  },
  users: { params: z.strictObject({ roomId }), result: z.strictObject({ users: z.array(roomUserSchema) }) },
  kick: { params: z.strictObject({ roomId, userId }), result: z.strictObject({ kicked: z.boolean() }) },
  add_device: { params: z.strictObject({ roomId, device }), result: nothing },
  remove_device: { params: z.strictObject({ roomId, userId }), result: nothing },
  rooms: { params: nothing, result: z.strictObject({ roomIds: z.array(z.string()) }) },
  health: { params: nothing, result: z.strictObject({ rooms: z.int(), users: z.int(), pulls: z.int() }) },
  transcoding: { params: nothing, result: transcodingStatus },
  probe: {
    params: z.strictObject({ address: z.string().max(2_048), login: login.optional() }),
    result: z.strictObject({
      ok: z.boolean(),
      /** Why not; null when ok. */
      kind: z.enum(deviceErrorKinds).nullable(),
      message: z.string(),
      milliseconds: z.number(),
      tracks: z.array(track),
      /** IP address at which it answered; empty when it did not. */
      address: z.string(),
    }),
  },
  stats: {
    /** Left out: every room. */
    params: z.strictObject({ roomId: roomId.optional() }),
    result: z.strictObject({ streams: z.array(streamStats), connections: z.array(connectionStats) }),
  },
} as const

export type ControlMethod = keyof typeof controlMethods

export function isControlMethod(name: string): name is ControlMethod {
  return Object.hasOwn(controlMethods, name)
}
export type ControlParams<M extends ControlMethod> = z.output<(typeof controlMethods)[M]['params']>
export type ControlResult<M extends ControlMethod> = z.output<(typeof controlMethods)[M]['result']>

/** Controller to node. */
export const toNodeSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('request'),
    id: z.int(),
    /** A method of `controlMethods`. */
    method: z.string(),
    params: z.unknown(),
  }),
  /** The caller has given up: nothing is to be left behind, no answer is needed. */
  z.strictObject({ type: z.literal('cancel'), id: z.int() }),
  z.strictObject({ type: z.literal('ffmpeg'), message: ffmpegTellSchema }),
  z.strictObject({ type: z.literal('stop') }),
])
export type ToNode = z.output<typeof toNodeSchema>

/** Messages that a node sends unasked: the events of the port, and its log. */
export const controlEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('joined'), roomId: z.string(), user: roomUserSchema }),
  z.strictObject({ type: z.literal('left'), roomId: z.string(), userId: z.string() }),
  z.strictObject({
    type: z.literal('deviceLost'),
    roomId: z.string(),
    userId: z.string(),
    kind: z.enum(deviceErrorKinds),
    detail: z.string(),
  }),
  /** Somebody wants to enter a room that is not open here, or that only the controller can let them into: it is to be opened, and `answer_room` follows. */
  z.strictObject({
    type: z.literal('roomWanted'),
    id: z.int(),
    roomId: z.string(),
    proof: roomProof,
    /** Client address. */
    client: z.string(),
  }),
  /** Somebody stands before a room, without a link or (`linked`) with one that is good: `answer_look` follows. Nothing is opened. */
  z.strictObject({
    type: z.literal('roomLooked'),
    id: z.int(),
    roomId: z.string(),
    client: z.string(),
    linked: z.boolean(),
  }),
  /** A host wants the room locked or unlocked, which is the controller's to keep: `answer_lock` follows. */
  z.strictObject({ type: z.literal('lockWanted'), id: z.int(), roomId: z.string(), locked: z.boolean(), by: doer }),
  /** A host did something. `who`: to whom, where it was one person. `count`: how many people it met. */
  z.strictObject({
    type: z.literal('hostActed'),
    roomId: z.string(),
    act: z.enum(hostActs),
    by: doer,
    who: doer.optional(),
    count: z.int(),
  }),
  /** Somebody came into a room with remote media, or became host there. `ticket`: of media that they send or watch there already. */
  z.strictObject({
    type: z.literal('carriedEntered'),
    roomId: z.string(),
    user: roomUserSchema,
    ticket: z.string().max(maxTicket),
  }),
  /**
   * They are out. `kicked`: by a host; `ended`: the host ended the meeting, and they may come again. Both also of somebody who did not come through this program.
   * `restarting`: nobody wanted that; their media goes on, and they come again in a moment, or do not.
   */
  z.strictObject({
    type: z.literal('carriedLeft'),
    roomId: z.string(),
    userId: z.string(),
    kicked: z.boolean(),
    ended: z.boolean(),
    restarting: z.boolean(),
  }),
  /** A method of `RoomMedia` is called for such a room: `answer_media` follows. */
  z.strictObject({ type: z.literal('mediaRequested'), id: z.int(), call: roomMediaCallSchema }),
  /** What somebody's camera and microphone send to such a room is to be passed on to nobody, or is again. `by`: id of the host who wants it; empty: themselves. */
  z.strictObject({
    type: z.literal('carriedMuted'),
    roomId: z.string(),
    userId: z.string(),
    kind: z.enum(['audio', 'video']),
    muted: z.boolean(),
    by: z.string(),
  }),
  /** Refused by the node itself since the last of these messages, without what was tried; one a second at most. */
  z.strictObject({
    type: z.literal('guesses'),
    groups: z
      .array(
        z.strictObject({
          kind: z.enum(guessKinds),
          path: z.enum(['/signal', '/whip', '/whep', '/entry']),
          /** Client address. */
          client: z.string(),
          /** Empty for several. */
          roomId: z.string(),
          count: z.int().min(1),
        }),
      )
      .max(64),
    /** Those that are in no group, because there were too many. */
    more: z.int().min(0),
  }),
  /** Removed by the controller, or by a host of the room; `left` follows. */
  removalSchema.extend({ type: z.literal('removed'), userName: z.string(), by: doer.optional() }),
])
export type ControlEvent = z.output<typeof controlEventSchema>

/** Node to controller. */
export const fromNodeSchema = z.discriminatedUnion('type', [
  /** It listens to requests. */
  z.strictObject({ type: z.literal('hello'), version: z.int() }),
  z.strictObject({ type: z.literal('answer'), id: z.int(), result: z.unknown() }),
  /** `kind` is that of a DeviceJoinError; null for any other failure. */
  z.strictObject({
    type: z.literal('failure'),
    id: z.int(),
    kind: z.enum(deviceErrorKinds).nullable(),
    message: z.string(),
  }),
  z.strictObject({ type: z.literal('event'), event: controlEventSchema }),
  z.strictObject({ type: z.literal('ffmpeg'), message: ffmpegAskSchema }),
  z.strictObject({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    message: z.string(),
    detail: z.string(),
  }),
])
export type FromNode = z.output<typeof fromNodeSchema>
