import type { Server } from 'node:http'
import type { ConnectionTable } from './connection-table.ts'
import type { Serving } from './guards.ts'

/** A port that listens. */
export interface Running {
  readonly server: Server
  readonly table: ConnectionTable
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly url: string
  /** Handlers of new requests; requests under way stay with their own. */
  readonly serving: Serving
  readonly report: NodeJS.Timeout
  readonly readers: NodeJS.Timeout
}
