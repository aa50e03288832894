import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Handlers of a port of the node. An error that one of them throws is logged and ends that one connection. */
export interface WebHandlers {
  request(request: IncomingMessage, response: ServerResponse): unknown
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** PEM texts. */
interface Certificate {
  cert: string
  key: string
}

/** Check of proofs on requests that other controllers pass on. */
export interface PassedOnProof {
  /** In base64. */
  key: string
  /** Id of this controller. */
  self: string
  /** Shown to other controllers, on a port of plain HTTP. */
  tls?: Certificate | undefined
}

/** A guarded port. */
export interface WebPort {
  /**
   * @param address port 0 picks a free one; without `tls` plain HTTP, and `formerTls` for pages that were opened at https before
   * @throws Error of the listener, e.g. EADDRINUSE
   */
  start(address: {
    host: string
    port: number
    tls: Certificate | undefined
    formerTls: Certificate | undefined
  }): Promise<{ port: number }>
  /** Cuts every connection. */
  stop(): Promise<void>
  /** Shown to connections from now on. @throws TypeError when it does not speak TLS */
  secure(tls: Certificate): void
  /** Open connections. */
  readonly connections: number
}

/** The files of a page, by their path percent-encoded. */
export interface PageFiles {
  file(path: string): Promise<{ body: Buffer; type: string; immutable: boolean } | undefined>
}

/** Makes ports and serves files for the node: given by its entry, so that the node is protected as every other port of the product is. */
export interface Web {
  /** @param passedOn left out: no other controller passes anything on */
  port(handlers: WebHandlers, passedOn?: PassedOnProof): WebPort
  /** IP address of a request's client: where it was passed on, the one that was proven. */
  client(request: IncomingMessage): string
  files(folder: string): PageFiles
}
