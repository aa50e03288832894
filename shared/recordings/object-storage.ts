/**
 * Reasons why the storage is unusable.
 * incomplete: address, bucket or key are missing. otherSite: another site uses this bucket and prefix. ownPort: the
 * address refers to a port of this site. notPermitted: the address is outside `networks`. caFile: the file of
 * certificate authorities cannot be read. notFound, unreachable, silent: network errors. certificate: TLS error.
 * keyUnknown, signature, denied, clock, bucket, region: the service rejects requests for this reason. full: the service
 * has no space. mismatch: the stored bytes differ from those sent. missing: the object does not exist.
 * refused: any other error of the service. noService: the response is not from an S3-compatible service.
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

/**
 * English sentence for each problem, for logs and callers of the API. The console has its own texts in each language.
 */
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
  missing: 'The object storage no longer holds this recording.',
  refused: 'The object storage refused.',
  noService: 'The address answers, but not as an S3-compatible service. Check the address.',
}
