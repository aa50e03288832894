import { z } from 'zod'
import { limits } from '../limits.ts'
import { bytes } from '../operation.ts'
import { keyPicture } from '../media/stream-stats.ts'
import { knownTags, tagsSchema } from '../tags.ts'
import { cameraQuality, cameraStill, cameraUptime, loginOutcome } from '../domain/camera-record.ts'
import { seenVersion } from '../domain/record-version.ts'
import { act, change, noEdit, read } from './declare.ts'
import { bulkOutcome, moment, emptyOutcome } from '../domain/outcome.ts'
import { operator, person, viewer } from './procedure-access.ts'
import { changes, subject } from './procedure-events.ts'
import type { RecordRef } from '../domain/record-fields.ts'
import { bulkTagged, tagChangesOf } from './tags.ts'
import { bulkDeleted } from './trash.ts'
import {
  deviceInput,
  deviceMoment,
  deviceView,
  importLine,
  probedCamera,
  probeResult,
  source,
} from '../domain/devices.ts'
import { userId } from '../domain/ids.ts'

/** Camera that responded to a search. */
const foundCamera = z.strictObject({
  id: z.string(),
  /** Name and model reported by the camera; may be empty. */
  name: z.string(),
  model: z.string(),
  host: z.string(),
})
export type FoundCameraView = z.output<typeof foundCamera>
const key = z.strictObject({ userId })
const keys = z.strictObject({ userIds: z.array(userId).min(1).max(limits.devices) })

const deviceOf = ({ userId: edited }: { userId: string }): RecordRef => ({ kind: 'device', key: edited })

const csv = z.strictObject({
  /**
   * CSV (RFC 4180) with the header
   * `roomId,userId,userName,userAddress,userData,login_name,login_password,assist_address,tags`.
   */
  text: z.string().max(4 * 1024 * 1024),
})

/** Stored picture of a camera. */
const keptPicture = z.strictObject({
  at: moment,
  /** Width in pixels. */
  width: z.int(),
  height: z.int(),
  bytes: z.int(),
})
export type KeptPicture = z.output<typeof keptPicture>

export const deviceProcedures = {
  'devices.list': read({
    summary: 'Every outgoing user with its state; with `tags`, those that have all of these tags.',
    input: z.strictObject({ roomId: z.string().optional(), tags: tagsSchema.default([]) }).prefault({}),
    output: z.array(deviceView),
    access: viewer('devices:read'),
    refreshOn: ['devices.changed'],
  }),
  'devices.history': read({
    summary: 'What became of a device since the controller started, newest first.',
    input: key,
    output: z.array(deviceMoment),
    access: viewer('devices:read'),
    refreshOn: ['devices.changed'],
  }),
  'devices.uptime': read({
    summary: 'When a device was up and down in the last 30 days, and why; from the event log.',
    input: key,
    output: cameraUptime,
    access: viewer('devices:read'),
    refreshOn: ['devices.changed'],
  }),
  'devices.quality': read({
    summary: 'What the media node receives from a joined device: bitrate, frame rate, distance of key frames, loss.',
    input: key,
    output: cameraQuality,
    access: viewer('devices:read'),
    refreshOn: ['devices.changed'],
  }),
  'devices.pictures': read({
    summary: 'Kept pictures of a camera, newest first.',
    input: z.strictObject({ userId }),
    output: z.strictObject({ items: z.array(keptPicture) }),
    access: viewer('media:watch'),
  }),
  'devices.picture': read({
    summary: 'One kept picture of a camera, the newest without `at`; null where there is none.',
    input: z.strictObject({ userId, at: moment.optional() }),
    output: z.strictObject({ picture: keyPicture.nullable() }),
    access: viewer('media:watch'),
  }),
  'devices.parse_address': read({
    summary: 'Take a pasted address apart: address without login, login, host, port.',
    input: z.strictObject({ address: z.string().max(2048) }),
    output: z.strictObject({
      address: z.string(),
      login_name: z.string(),
      login_password: z.string(),
      host: z.string(),
      port: z.int(),
    }),
    access: operator('devices:write'),
  }),
  'devices.probe': read({
    summary:
      'Ask the device whether it can be reached, whether the login is right and what it sends, without adding it.',
    input: probedCamera,
    output: probeResult,
    access: operator('devices:write'),
  }),
  'devices.discover': read({
    summary: 'Search the networks of this machine for ONVIF cameras, for some seconds.',
    input: emptyOutcome,
    output: z.strictObject({
      items: z.array(foundCamera),
      /** Addresses of this machine from which networks were searched. */
      searched: z.array(z.string()),
      /** Addresses of cameras that responded but are not in the permitted camera networks. */
      outside: z.array(z.string()),
    }),
    access: operator('devices:write'),
  }),
  'devices.discovered_streams': read({
    summary:
      'Ask a camera of the last search for its streams, the largest first. `login`: it wants one, or another one; `failed`: it named none; `gone`: no search has found it.',
    input: z.strictObject({
      id: z.string().min(1).max(2_000),
      login_name: bytes(0, limits.loginName).optional(),
      login_password: bytes(0, limits.loginPassword).optional(),
    }),
    output: z.strictObject({
      state: z.enum(['found', 'login', 'failed', 'gone']),
      streams: z.array(z.strictObject({ address: z.string(), width: z.int(), height: z.int() })),
    }),
    access: operator('devices:write'),
  }),
  'devices.still': read({
    summary: 'Take a picture of a device, without adding it.',
    input: source,
    output: cameraStill,
    access: operator('devices:write'),
  }),
  'devices.change_login': change({
    summary: 'Try another login at a device, and save it if the device accepts it.',
    input: key.extend({
      login_name: bytes(0, limits.loginName),
      login_password: bytes(0, limits.loginPassword),
      /** Whether to save the login even if the device rejects it or does not respond. */
      always: z.boolean().default(false),
      ...seenVersion,
    }),
    output: loginOutcome,
    edits: deviceOf,
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.create': change({
    summary:
      'Add a device. With `join: "required"` it must join, as over the API; otherwise it is kept and joined in the background.',
    input: deviceInput.extend({ join: z.enum(['required', 'background']).default('background') }),
    output: deviceView,
    edits: noEdit('makes a device'),
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.update': change({
    summary:
      'Change a device; what is left out stays. It joins anew when its address, login, old_tls or room changed. An address of another host, port or scheme needs the password again where one is stored.',
    input: key.extend(
      deviceInput
        .omit({ userId: true, tags: true })
        .partial()
        .extend({ userData: bytes(0, limits.userData).optional(), ...seenVersion }).shape,
    ),
    output: deviceView,
    edits: deviceOf,
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.tags': read({
    summary: 'Tags of the devices, by name, with the number of devices of each.',
    input: emptyOutcome,
    output: knownTags,
    access: viewer('devices:read'),
    refreshOn: ['devices.changed'],
  }),
  'devices.set_tags': change({
    summary: 'Set the tags of a device.',
    input: key.extend({ tags: tagsSchema, ...seenVersion }),
    output: deviceView,
    edits: deviceOf,
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.change_tags': change({
    summary: 'Add tags to devices and remove tags from them. `undo` of the output is the input that undoes it.',
    input: tagChangesOf('userIds', userId, limits.devices),
    output: bulkTagged('userIds'),
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.pause': change({
    summary: 'Take them out of their rooms, and keep them.',
    input: keys,
    output: bulkOutcome,
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.resume': change({
    summary: 'Join them again.',
    input: keys,
    output: bulkOutcome,
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.retry': change({
    summary: 'Try now rather than when the next attempt is due.',
    input: keys,
    output: bulkOutcome,
    access: operator('devices:write'),
    event: {
      outside: 'nodes',
      subjects: ({ userIds }) => userIds.map(subject.device),
      failed: ({ failed }) => failed.map(({ key }) => key),
    },
  }),
  'devices.remove': change({
    summary: 'Remove them from their rooms and move them to the trash.',
    input: keys,
    output: bulkDeleted,
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.import_preview': read({
    summary: 'What each line of a CSV would do; changes nothing.',
    input: csv,
    output: z.array(importLine),
    access: operator('devices:write'),
  }),
  'devices.import': change({
    summary: 'Do what the lines without an error say.',
    input: csv,
    output: z.array(importLine),
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'devices.export': act({
    summary: 'Every device as CSV, without passwords.',
    input: emptyOutcome,
    output: z.strictObject({ text: z.string() }),
    // The result contains addresses of cameras with parts that may be secret; operators also receive these in the list.
    access: person('operator'),
    event: { subjects: () => [subject.site] },
  }),
}
