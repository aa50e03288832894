import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'

/** S3-compatible object storage for finished segments of recordings. */
export const objectStorageSchema = z.strictObject({
  /** Finished segments are uploaded. Off: those that were uploaded can still be played and are still deleted. */
  enabled: z.boolean().default(false),
  /** Address of the service without the bucket, e.g. `https://s3.eu-central-1.amazonaws.com`; empty: none. */
  endpoint: z
    .string()
    .max(300)
    .regex(/^(https?:\/\/[^\s/?#@]+)?$/, rule('webAddress'))
    .default(''),
  region: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .default('us-east-1'),
  /** Name of the bucket, which exists; empty: none. */
  bucket: z
    .string()
    .regex(/^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$/)
    .default(''),
  /** Put before the name of each object, e.g. `roomdesk/`. */
  prefix: z
    .string()
    .max(200)
    .regex(/^([\w-][\w./-]*)?$/)
    .default(''),
  access_key_id: z
    .string()
    .max(256)
    .regex(/^[\x21-\x7e]*$/)
    .default(''),
  secret_access_key: z
    .string()
    .max(256)
    .regex(/^[\x21-\x7e]*$/)
    .default(''),
  /** The bucket is in the path of addresses; false: it is part of the host name. */
  path_style: z.boolean().default(true),
  /** PEM file of authorities that the service's certificate may be signed by, besides the well-known ones; empty: none. */
  ca_file: z.string().max(4096).default(''),
  /** IP addresses and networks (CIDR) at which the service may be; empty: all but this machine, link-local addresses and metadata services of clouds. */
  networks: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], rule('network')))
    .max(64)
    .default([]),
  /** Hours for which an uploaded segment stays on the local disk as well, after its end. */
  keep_local_hours: z.int().min(0).max(87_600).default(24),
})
export type ObjectStorageSettings = z.output<typeof objectStorageSchema>

/**
 * Reasons why the storage cannot be used.
 * incomplete: address, bucket or key are missing. otherSite: another site uses this bucket and prefix. ownPort: the address leads to a port of this site. notPermitted: it leads to an address outside of `networks`. caFile: the file of authorities cannot be read. notFound, unreachable, silent: network. certificate: TLS.
 * keyUnknown, signature, denied, clock, bucket, region: the service refuses. full: it has no room. mismatch: it holds other bytes than were sent. missing: there is no such object.
 * refused: anything else that the service says. noService: the answer is none of such a service.
 */
export const objectProblems = [
  'incomplete',
  'ownPort',
  'notPermitted',
  'otherSite',
  'caFile',
  'notFound',
  'unreachable',
  'silent',
  'certificate',
  'keyUnknown',
  'signature',
  'denied',
  'clock',
  'bucket',
  'region',
  'full',
  'mismatch',
  'missing',
  'refused',
  'noService',
] as const
export type ObjectProblem = (typeof objectProblems)[number]

/** Sentence for each problem, for logs and callers of the API; the console words it in its language. */
export const objectProblemMessages: Readonly<Record<ObjectProblem, string>> = {
  incomplete: 'Enter the address, the bucket, the key id and the secret key of the object storage.',
  ownPort: 'The address of the object storage leads to a port of Roomdesk itself. Enter that of the storage.',
  otherSite:
    'Another site stores its recordings in this bucket with this prefix. Choose another prefix, or delete roomdesk-recordings.json there to take its recordings over.',
  notPermitted:
    'The address of the object storage leads to this machine, a link-local address or one outside of the permitted networks. Add its network to object_storage.networks.',
  caFile: 'The file of certificate authorities cannot be read, or holds no PEM certificate. Check its path.',
  notFound: 'The host of the object storage cannot be found. Check the address and the name server.',
  unreachable: 'The object storage cannot be reached. Check its address and port, and the network.',
  silent: 'The object storage did not answer in time. Check it, and the network.',
  certificate:
    'The certificate of the object storage is not trusted. Enter the file of its authority, or check its host name and dates.',
  keyUnknown: 'The object storage does not know this key id. Check the key id.',
  signature: 'The object storage does not accept the signature. Check the secret key, and the region.',
  denied: 'The key may not do this. Allow it to list the bucket and to put, get and delete objects in it.',
  clock: 'The clock of this machine differs too much from that of the object storage. Set the clock.',
  bucket: 'There is no such bucket. Make it, or check its name.',
  region: 'The bucket is in another region. Check region and address.',
  full: 'The object storage has no room left. Make room there.',
  mismatch: 'The object storage holds other bytes than were sent. Check the storage and any proxy before it.',
  missing: 'The object storage does not hold this recording any more.',
  refused: 'The object storage refused.',
  noService: 'The address answers, but not as an S3-compatible service. Check the address.',
}
