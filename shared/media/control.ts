import { z } from 'zod'
import { cameraMeasure } from './camera-measure.ts'
import type { DeviceAddress } from '../device-address.ts'
import { deviceErrorKinds } from '../device.ts'
import { nodeLoad } from '../domain/nodes.ts'
import { limits } from '../limits.ts'
import type { ControlHandlers, Params, RequestName, Result } from './control-link.ts'
import { remoteOutSchema, remoteRoomSchema } from './remote-media.ts'
import { ffmpegTellSchema } from './ffmpeg.ts'
import { mediaSettingsSchema } from './media-settings.ts'
import { nodeRoomSchema } from './node-room.ts'
import { roomUserSchema } from './room-user.ts'
import { recordingOrderSchema } from '../recordings/segment.ts'
import { connectionStats, keyPicture, streamStats } from './stream-stats.ts'
import { testCameraStateSchema } from './test-camera.ts'
import { testPeopleStateSchema } from './test-people.ts'
import { trackReasons, transcodingStatus, trackWays } from './transcoding.ts'

/**
 * Messages from the controller to a media program; `controllerMethods` contains the messages in the other direction. A
 * message with a result is a request, which receives one response; all others are notifications, which arrive in order.
 * See ControlLink.
 */

/** Version of these messages. Both sides belong to the same build. */
export const controlVersion = 1

const roomId = z.string().min(1).max(128)
const userId = z.string().min(1).max(128)

/**
 * Removal of a user from a room, or revocation of links to a room. A removed user is refused until `until`, and with
 * all earlier links.
 */
export const removalSchema = z.strictObject({
  roomId: z.string(),
  /** Id of the removed user; empty: `tokenId`, or every link of the room created before `at`, is revoked. */
  userId: z.string(),
  /** Id of the user's personal link, or of the revoked link; empty: none. */
  tokenId: z.string(),
  /** Time of the removal, in milliseconds since the epoch. */
  at: z.number(),
  until: z.number(),
})
export type Removal = z.output<typeof removalSchema>

/** Device of the site, whose id is reserved in its room. */
const outgoingIdSchema = z.strictObject({
  userId,
  /** Room of the device; empty: the device was deleted. */
  roomId: z.string().max(128),
})
export type OutgoingId = z.output<typeof outgoingIdSchema>

/** Maximum number of stored removals: the latest of a site; `maxRemovalsOfRoom`: the latest of one room. */
export const maxRemovals = 10_000
export const maxRemovalsOfRoom = 200
/** Maximum number of stored ended links: the number that the site stores, plus ended links of earlier versions. */
export const maxEndedLinks = limits.joinRecords + 20_000

/** Certificate and key, as PEM texts. */
const certificate = z.strictObject({ cert: z.string(), key: z.string() })

/** Parameters of the first request to the process. */
export const startSchema = z.strictObject({
  version: z.literal(controlVersion),
  host: z.string().min(1).max(253),
  /** Port of HTTP and WebSocket; 0: any free port. */
  port: z.int().min(0).max(65_535),
  /** UDP port of all WebRTC media; 0: the same number as `port` if it is free. */
  udp_port: z.int().min(0).max(65_535).default(0),
  /** Certificate for HTTPS; undefined: plain HTTP. */
  tls: certificate.optional(),
  /**
   * Certificate for pages that were opened over HTTPS before TLS was switched off. It is served in addition to plain
   * HTTP.
   */
  former_tls: certificate.optional(),
  /** Key that signs join links, as base64 of at least 32 bytes. */
  token_key: z.string().min(43),
  /**
   * Key (base64) of the proofs on requests that other controllers forward, and id of this controller; undefined: no
   * other controllers.
   */
  passed_on: z.strictObject({ key: z.string().min(43), self: z.string(), tls: certificate.optional() }).optional(),
  /** Folder of the built room page; empty: the page is not served. */
  page_folder: z.string().default(''),
  /** Existing folder of recordings; empty: recording is impossible. */
  recordings_folder: z.string().default(''),
  settings: mediaSettingsSchema.prefault({}),
  /** Removals that are still in force at the start of this process. */
  removals: z
    .array(removalSchema)
    .max(maxRemovals + maxEndedLinks)
    .optional(),
  /** Devices of all rooms of the site. */
  outgoing: z.array(outgoingIdSchema).optional(),
})
export type MediaStart = z.output<typeof startSchema>

const room = nodeRoomSchema.extend({
  /**
   * Whether the media of the room is on another node: this program admits people, and forwards requests about media to
   * the controller.
   */
  remote: z.boolean().optional(),
})
const login = z.strictObject({ name: z.string(), password: z.string() })
/** Result of `parseDeviceAddress`. This schema checks only the types and sizes of its fields. */
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
  /** Address of the second stream; undefined: none. */
  assistAddress: deviceAddress.optional(),
  login: login.optional(),
  /** Whether outdated TLS is accepted from the device. */
  oldTls: z.boolean().optional(),
})

/** Camera to probe, which need not be in a room. */
const lookedAt = device.pick({ address: true, login: true, oldTls: true })

/** Track of a camera found by a probe. */
const track = z.strictObject({
  kind: z.enum(['video', 'audio']),
  codec: z.string(),
  detail: z.string(),
  carried: z.boolean(),
  /** Size of the picture in pixels; undefined: not reported by the camera. */
  width: z.int().optional(),
  height: z.int().optional(),
  way: z.enum(trackWays),
  /** Reason why browsers cannot play the track unchanged; null: they can. */
  reason: z.enum(trackReasons).nullable(),
})

const nothing = z.strictObject({})
/** Result of a request that only needs a confirmation. */
const done = z.undefined()

/** Reason why a waiting person was not admitted or did not receive a message; null: success. */
const waitingRefusal = z.enum(['notWaiting', 'locked', 'roomFull', 'failed']).nullable()
export type WaitingRefusal = NonNullable<z.output<typeof waitingRefusal>>

/** User in a report of an action: the actor or the affected user. */
export const doer = z.strictObject({ userId: z.string(), userName: z.string() })
export type Doer = z.output<typeof doer>
/** Messages from the controller to the media program. */
export const mediaMethods = {
  start: { params: startSchema, result: z.strictObject({ port: z.int(), udp_port: z.int() }) },
  set_settings: { params: mediaSettingsSchema, result: done },
  /** Ends the program gracefully. */
  stop: { params: nothing },
  ffmpeg: { params: ffmpegTellSchema },
  /** Confirms that the controller is still the leader of its site. See `lease_ms` of the settings. */
  leads: { params: nothing, result: done },
  /** Replaces the certificate of a listener with TLS, for new connections. */
  set_certificate: { params: certificate, result: done },
  /** Returns the number of open connections of the listener. */
  connections: { params: nothing, result: z.strictObject({ connections: z.int() }) },
  /** Reports that a user was removed from a room on another node. The room may be moved to this node later. */
  note_removal: { params: removalSchema, result: done },
  /** Reports that a device was created, moved or deleted. */
  note_outgoing: { params: outgoingIdSchema, result: done },
  open_room: { params: room, result: done },
  /**
   * Closes a room. `moves`: the room is moved to another node, and its users should follow. `remote`: closes the room
   * only if its media is still on another node.
   */
  close_room: {
    params: z.strictObject({ roomId, moves: z.boolean().optional(), remote: z.boolean().optional() }),
    result: done,
  },
  /** Reports the height at which the viewer of a WHEP session displays the video, in device pixels; 0: hidden. */
  show: {
    params: z.strictObject({ session: z.string(), height: z.int().min(0) }),
    result: z.strictObject({ there: z.boolean() }),
  },
  /** Replaces the users and streams of a room whose media is on another node. */
  set_remote_room: { params: remoteRoomSchema, result: done },
  /** Removes a user who joined a room with remote media through this process. */
  remove_remote_user: { params: remoteOutSchema, result: done },
  /**
   * Mutes a person who joined through this process. `by`: user id of a host who joined on another node; empty: the
   * operator.
   */
  mute: {
    params: z.strictObject({ roomId, userId, kind: z.enum(['audio', 'video']), by: z.string() }),
    /** Whether the person was muted; false: no such person joined through this process. */
    result: z.strictObject({ muted: z.boolean() }),
  },
  /** Ends a session of media on another node. */
  end_remote_media: { params: z.strictObject({ session: z.string() }), result: done },
  /**
   * Admits one waiting person, or all, for the operator. `refusal`: reason why the first person who is not in `people`
   * was not admitted.
   */
  admit_waiting: {
    params: z.strictObject({ roomId, userId: userId.optional() }),
    result: z.strictObject({ people: z.array(doer), refusal: waitingRefusal }),
  },
  /** Refuses a waiting person, for the operator. */
  refuse_waiting: {
    params: z.strictObject({ roomId, userId }),
    result: z.strictObject({ people: z.array(doer), refusal: waitingRefusal }),
  },
  /** Shows a text to one waiting person, or to all. `reached`: number of people to whose page the text was sent. */
  message_waiting: {
    params: z.strictObject({
      roomId,
      userId: userId.optional(),
      from: z.string().max(256),
      text: z.string().max(1_000),
    }),
    result: z.strictObject({ reached: z.int() }),
  },
  /** Returns the latest keyframe of a stream; null: none. */
  key_picture: {
    params: z.strictObject({ roomId, streamId: z.string() }),
    result: z.strictObject({ picture: keyPicture.nullable() }),
  },
  /** Returns measurements of a room's camera; null: it is not measured here. */
  camera_quality: {
    params: z.strictObject({ roomId, streamId: z.string() }),
    result: z.strictObject({
      quality: z.strictObject({ now: cameraMeasure.nullable(), minutes: z.array(cameraMeasure) }).nullable(),
    }),
  },
  /**
   * Returns the clocks of the cameras in all rooms, minus the clock of this machine, in milliseconds. Omits cameras
   * that do not report their time.
   */
  camera_clocks: {
    params: z.strictObject({}),
    result: z.strictObject({ clocks: z.array(z.strictObject({ streamId: z.string(), ahead_ms: z.number() })) }),
  },
  /** Takes a picture of a camera, which need not be in a room. */
  camera_still: {
    params: lookedAt,
    result: z.strictObject({
      picture: keyPicture.nullable(),
      /**
       * Reason of a missing picture; null: none is missing. codec: browsers cannot show the picture, and ffmpeg is
       * missing.
       */
      missing: z.enum(['codec', 'failed']).nullable(),
    }),
  },
  users: { params: z.strictObject({ roomId }), result: z.strictObject({ users: z.array(roomUserSchema) }) },
  kick: { params: z.strictObject({ roomId, userId }), result: z.strictObject({ kicked: z.boolean() }) },
  /**
   * Adds a device to a room. `leftMs`: milliseconds until the caller's deadline. If the media of the device does not
   * flow by then, the request fails with `timeout`.
   */
  add_device: { params: z.strictObject({ roomId, device, leftMs: z.int().min(1) }), result: done },
  remove_device: { params: z.strictObject({ roomId, userId }), result: done },
  /**
   * Replaces the recording order of a room until the room is closed on this node. The order may arrive before the room
   * is opened. `recorder` events follow.
   */
  set_recording: { params: recordingOrderSchema, result: done },
  rooms: { params: nothing, result: z.strictObject({ roomIds: z.array(z.string()) }) },
  health: {
    params: nothing,
    result: z.strictObject({ rooms: z.int(), users: z.int(), pulls: z.int(), load: nodeLoad }),
  },
  transcoding: { params: nothing, result: transcodingStatus },
  /** Returns the state of the test cameras that the settings order, once they have started. */
  test_cameras: { params: nothing, result: z.strictObject({ cameras: z.array(testCameraStateSchema) }) },
  /** Returns the state of the test people that the settings order. */
  test_people: { params: nothing, result: z.strictObject({ groups: z.array(testPeopleStateSchema) }) },
  probe: {
    params: lookedAt,
    result: z.strictObject({
      ok: z.boolean(),
      /** Reason of the failure; null: success. */
      kind: z.enum(deviceErrorKinds).nullable(),
      message: z.string(),
      /** Response of the camera, with the request; empty: unknown. */
      detail: z.string(),
      milliseconds: z.number(),
      tracks: z.array(track),
      /** IP address of the camera that responded; empty: none responded. */
      address: z.string(),
    }),
  },
  stats: {
    /** Room to report; undefined: every room. */
    params: z.strictObject({ roomId: roomId.optional() }),
    result: z.strictObject({ streams: z.array(streamStats), connections: z.array(connectionStats) }),
  },
} as const

type MediaMethods = typeof mediaMethods

/** Names of the requests from the controller. */
export type ControlMethod = RequestName<MediaMethods>
export type ControlParams<M extends keyof MediaMethods> = Params<MediaMethods, M>
export type ControlResult<M extends ControlMethod> = Result<MediaMethods, M>
export type MediaHandlers = ControlHandlers<MediaMethods>
