/** The part of the package that the tests use; it ships no types. */
declare module '@20minutes/s3rver' {
  import type { RequestListener } from 'node:http'

  /** S3-compatible server with files as its store. */
  export default class S3rver {
    constructor(options: { directory: string; silent: boolean; configureBuckets?: { name: string }[] })
    configureBuckets(): Promise<unknown>
    callback(): RequestListener
  }
}
