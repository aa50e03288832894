import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'
import { recordingRuleSchema, retentionSchema } from '../recordings/recording-rule.ts'
import { choice, decimal, integer, lines, partSchema, secret, structure, text, toggle } from './setting.ts'

/**
 * Recording settings of the site. None has `open` access, because they affect the privacy of people and the
 * preservation of evidence.
 */
export const recording = {
  /** Rule of rooms without their own rule. */
  rooms: structure(
    { schema: recordingRuleSchema, default: { when: 'never' }, control: 'none' },
    { card: 'recordingRules', order: 2, access: 'person', restarts: 'nothing' },
  ),
  /** Rule of cameras without their own rule. */
  cameras: structure(
    { schema: recordingRuleSchema, default: { when: 'never' }, control: 'none' },
    { card: 'recordingRules', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /** Retention of rooms and cameras without their own retention. */
  retention: structure(
    { schema: retentionSchema, default: { days: 14, gigabytes: 0 }, control: 'none' },
    { card: 'recordingRules', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /**
   * Maximum size of all recordings, in gigabytes (10^9 bytes); the oldest are deleted. 0: limited only by the free
   * space.
   */
  gigabytes: decimal(
    { range: [0, 1_000_000], unit: 'GB', default: 0 },
    { card: 'recording', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /**
   * Space kept free on the disk: recording stops at this level. The larger of the two values applies, in gigabytes and
   * percent.
   */
  free_gigabytes: decimal(
    { range: [0.1, 100_000], unit: 'GB', default: 5 },
    { card: 'recording', order: 2, access: 'person', restarts: 'nothing' },
  ),
  free_percent: decimal(
    { range: [0, 90], unit: '%', default: 5 },
    { card: 'recording', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /** Recordings that viewers may see; operators and admins see all. */
  viewers: choice(
    { choices: ['nothing', 'cameras', 'all'], default: 'cameras' },
    { card: 'recordingAccess', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /** Whether hosts may start and stop the recording of their room. */
  hosts: toggle({ default: false }, { card: 'recordingAccess', order: 2, access: 'person', restarts: 'nothing' }),
  /** Whether a recording is announced by voice once in a room; the notice is always shown. */
  announce: toggle({ default: true }, { card: 'recordingAccess', order: 3, access: 'person', restarts: 'nothing' }),
}
export const recordingSettingsSchema = partSchema(recording)
export type RecordingSettings = z.output<typeof recordingSettingsSchema>
export type RecordingViewers = RecordingSettings['viewers']

const ipNetworks = z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], rule('network'))).max(64)
const keyText = z
  .string()
  .max(256)
  .regex(/^[\x21-\x7e]*$/)

/** S3-compatible object storage for finished segments of recordings. */
export const objectStorage = {
  /** Whether finished segments are uploaded. Off: uploaded ones can still be played and are still deleted. */
  enabled: toggle({ default: false }, { card: 'objectStorage', order: 1, access: 'person', restarts: 'nothing' }),
  /** Address of the service without the bucket, e.g. `https://s3.eu-central-1.amazonaws.com`; empty: none. */
  endpoint: text(
    {
      schema: z
        .string()
        .max(300)
        .regex(/^(https?:\/\/[^\s/?#@]+)?$/, rule('webAddress')),
      default: '',
    },
    { card: 'objectStorage', order: 2, access: 'person', restarts: 'nothing' },
  ),
  region: text(
    { schema: z.string().regex(/^[\w-]{1,64}$/), default: 'us-east-1' },
    { card: 'objectStorage', order: 5, access: 'person', restarts: 'nothing' },
  ),
  /** Name of the existing bucket; empty: none. */
  bucket: text(
    { schema: z.string().regex(/^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$/), default: '' },
    { card: 'objectStorage', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /** Prefix of the name of each object, e.g. `roomdesk/`. */
  prefix: text(
    {
      schema: z
        .string()
        .max(200)
        .regex(/^([\w-][\w./-]*)?$/),
      default: '',
    },
    { card: 'objectStorage', order: 4, access: 'person', restarts: 'nothing' },
  ),
  access_key_id: text(
    { schema: keyText, default: '' },
    { card: 'objectStorage', order: 6, access: 'person', restarts: 'nothing' },
  ),
  secret_access_key: secret(
    { schema: keyText, default: '' },
    { card: 'objectStorage', order: 7, access: 'person', restarts: 'nothing' },
  ),
  /** Whether the bucket is in the path of addresses; false: it is part of the host name. */
  path_style: toggle({ default: true }, { card: 'objectStorage', order: 8, access: 'person', restarts: 'nothing' }),
  /** PEM file of certificate authorities accepted for the service, in addition to the public ones; empty: none. */
  ca_file: text(
    { schema: z.string().max(4096), default: '' },
    { card: 'objectStorage', order: 9, access: 'person', restarts: 'nothing' },
  ),
  /**
   * Permitted IP addresses and networks (CIDR) of the service; empty: all except this machine, link-local addresses and
   * metadata services of clouds.
   */
  networks: lines(
    { schema: ipNetworks, default: [] },
    { card: 'objectStorage', order: 10, access: 'person', restarts: 'nothing' },
  ),
  /** Hours for which an uploaded segment also stays on the local disk, after its end. */
  keep_local_hours: integer(
    { range: [0, 87_600], unit: 'hours', default: 24 },
    { card: 'objectStorage', order: 11, access: 'person', restarts: 'nothing' },
  ),
}
export const objectStorageSchema = partSchema(objectStorage)
export type ObjectStorageSettings = z.output<typeof objectStorageSchema>

/** Live streams over HLS and RTMP. */
export const live = {
  /** Origins whose pages may embed the player, in addition to the site's own. */
  embed_origins: lines(
    {
      schema: z.array(z.string().regex(/^https?:\/\/[\w.-]{1,253}(:\d{1,5})?$/, rule('webAddress'))).max(50),
      default: [],
    },
    { card: 'live', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /**
   * Permitted IP addresses and networks (CIDR) of RTMP servers for pushes of clients; empty: all except this machine,
   * link-local addresses and metadata services of clouds. Ports of this site are never permitted.
   */
  push_networks: lines(
    { schema: ipNetworks, default: [] },
    { card: 'live', order: 2, access: 'person', restarts: 'nothing' },
  ),
  /**
   * PEM file of certificate authorities accepted for `rtmps://` servers, in addition to the public ones; empty: none.
   */
  push_ca_file: text(
    { schema: z.string().max(4096), default: '' },
    { card: 'live', order: 3, access: 'person', restarts: 'nothing' },
  ),
}
