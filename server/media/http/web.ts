import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Handlers of a port of the node. An error thrown by a handler is logged and ends that one connection. */
export interface WebHandlers {
  request(request: IncomingMessage, response: ServerResponse): unknown
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** In PEM. */
interface Certificate {
  cert: string
  key: string
}

/** Check of requests that other controllers forward. */
export interface PassedOnProof {
  /** In base64. */
  key: string
  /** Id of this controller. */
  self: string
  /** Certificate presented to other controllers on a plain HTTP port. */
  tls?: Certificate | undefined
}

/** A guarded port. */
export interface WebPort {
  /**
   * @param address port 0 selects a free one; without `tls` the port serves plain HTTP, with `formerTls` for pages that
   *   were opened by https before
   * @throws Error of the listener, e.g. EADDRINUSE
   */
  start(address: {
    host: string
    port: number
    tls: Certificate | undefined
    formerTls: Certificate | undefined
  }): Promise<{ port: number }>
  stop(): Promise<void>
  /** Replaces the certificate for new connections. @throws TypeError if the port does not use TLS */
  secure(tls: Certificate): void
  readonly connections: number
}

/** Files of a page, by percent-encoded path. */
export interface PageFiles {
  file(path: string): Promise<{ body: Buffer; type: string; immutable: boolean } | undefined>
}

/**
 * Makes ports and serves files for the node. It is injected, so that the node gets the same protection as every other
 * port of the product.
 */
export interface Web {
  /** @param passedOn omitted if no other controller forwards requests */
  port(handlers: WebHandlers, passedOn?: PassedOnProof): WebPort
  /** Returns the IP address of a request's client. For a forwarded request this is the address in its proof. */
  client(request: IncomingMessage): string
  files(folder: string): PageFiles
}
