import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'
import { recordingRuleSchema, retentionSchema } from '../recordings/recording-rule.ts'
import { choice, decimal, integer, lines, partSchema, secret, structure, text, toggle } from './setting.ts'

/**
 * Recording settings of the site. All require a person to change them, because they affect privacy and the preservation
 * of evidence.
 */
export const recording = {
  /** Rule of rooms that have no rule of their own. */
  rooms: structure(
    { schema: recordingRuleSchema, default: { when: 'never' }, control: 'none' },
    { card: 'recordingRules', order: 2, access: 'person', restarts: 'nothing' },
  ),
  /** Rule of cameras that have no rule of their own. */
  cameras: structure(
    { schema: recordingRuleSchema, default: { when: 'never' }, control: 'none' },
    { card: 'recordingRules', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /** Retention of rooms and cameras that have no retention of their own. */
  retention: structure(
    { schema: retentionSchema, default: { days: 14, gigabytes: 0 }, control: 'none' },
    { card: 'recordingRules', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /**
   * Maximum size of all recordings, in gigabytes (10^9 bytes); beyond it, the oldest are deleted. 0: limited only by
   * the free space.
   */
  gigabytes: decimal(
    { range: [0, 1_000_000], unit: 'GB', default: 0 },
    { card: 'recording', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /**
   * Space to keep free on the disk, in gigabytes and in percent; the larger of the two applies. Recording stops when
   * this limit is reached.
   */
  free_gigabytes: decimal(
    { range: [0.1, 100_000], unit: 'GB', default: 5 },
    { card: 'recording', order: 2, access: 'person', restarts: 'nothing' },
  ),
  free_percent: decimal(
    { range: [0, 90], unit: '%', default: 5 },
    { card: 'recording', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /** Recordings that viewers may play. Operators and admins may play all. */
  viewers: choice(
    { choices: ['nothing', 'cameras', 'all'], default: 'cameras' },
    { card: 'recordingAccess', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /** Whether hosts may start and stop the recording of their room. */
  hosts: toggle({ default: false }, { card: 'recordingAccess', order: 2, access: 'person', restarts: 'nothing' }),
  /** Whether a recording is announced in a room once by voice. The visual notice is always shown. */
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
  /**
   * Whether finished segments are uploaded. Off: segments that were uploaded earlier can still be played, and are still
   * deleted.
   */
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
  /** Name of the bucket, which must exist; empty: none. */
  bucket: text(
    { schema: z.string().regex(/^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$/), default: '' },
    { card: 'objectStorage', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /** Prefix of the name of each object, e.g. `roomdesk/`; empty: none. */
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
  /** Whether URLs contain the bucket in the path; false: in the host name. */
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
  /** Number of hours for which an uploaded segment stays on the local disk after its end. */
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
