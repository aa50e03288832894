import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { type ObjectStorageSettings, objectStorageSchema } from '../../../shared/settings/recording.ts'
import { allowSingleDes } from './single-des.ts'

allowSingleDes()
const bucket = 'recordings'
/** Key that the server knows. */
const key = 'S3RVER'

/** Acts before the server does. @returns whether it has answered, or will */
export type Fault = (...exchange: Parameters<RequestListener>) => boolean

/** A real S3-compatible server over a folder, with faults, and with restarts on the same port. */
export class ObjectServer {
  readonly #folder: string
  readonly #handler: RequestListener
  readonly #tls: { key: string; cert: string } | undefined
  #server: http.Server | undefined
  #port = 0
  /** Requests so far, as `PUT name`. */
  readonly requests: string[] = []
  fault: Fault | undefined

  private constructor(folder: string, handler: RequestListener, tls?: { key: string; cert: string }) {
    this.#folder = folder
    this.#handler = handler
    this.#tls = tls
  }

  /** Starts a server with an empty bucket. */
  static async start(tls?: { key: string; cert: string }): Promise<ObjectServer> {
    const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'roomdesk-objects-'))
    const store = new S3rver({ directory: folder, silent: true, configureBuckets: [{ name: bucket }] })
    await store.configureBuckets()
    const server = new ObjectServer(folder, store.callback(), tls)
    await server.listen()
    return server
  }

  /** Settings of a site that uses it. */
  settings(more: Partial<ObjectStorageSettings> = {}): ObjectStorageSettings {
    const endpoint = `${this.#tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}`
    const secrets = { access_key_id: key, secret_access_key: key }
    const networks = ['127.0.0.0/8', '::1']
    return objectStorageSchema.parse({ enabled: true, endpoint, bucket, networks, ...secrets, ...more })
  }

  get port(): number {
    return this.#port
  }

  /** Names of the objects in the bucket, in their order. */
  async names(): Promise<string[]> {
    const found = await readdir(join(this.#folder, bucket), { recursive: true }).catch(() => [])
    const suffix = '._S3rver_object'
    return found
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))
      .toSorted()
  }

  /** Number of requests of a method so far. */
  count(method: string): number {
    return this.requests.filter((request) => request.startsWith(`${method} `)).length
  }

  /** Listens, again on the same port. */
  async listen(): Promise<void> {
    const answer: RequestListener = (request, response) => {
      this.requests.push(`${request.method ?? ''} ${(request.url ?? '').replace(`/${bucket}/`, '')}`)
      if (this.fault?.(request, response) !== true) this.#handler(request, response)
    }
    this.#server = this.#tls === undefined ? http.createServer(answer) : https.createServer(this.#tls, answer)
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Goes away as a machine does that lost its power: connections end in the middle. */
  async vanish(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  async remove(): Promise<void> {
    await this.vanish()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }
}
