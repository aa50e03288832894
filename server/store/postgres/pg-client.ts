import { Socket } from 'node:net'
import { Client } from 'pg'
import type { DatabaseClient, DatabaseStatement } from '../system/system.ts'

/** Returns a connection to PostgreSQL by `pg`. @param connectMs maximum time to connect, in milliseconds */
export function pgClient(connectionString: string, connectMs: number): DatabaseClient {
  const socket = new Socket()
  const client = new Client({
    connectionString,
    stream: () => socket,
    application_name: 'roomdesk',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 2_000,
  })
  return {
    get processId() {
      // From the `BackendKeyData` message; the types of pg do not declare it.
      return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0
    },
    connect: async () => void (await client.connect()),
    query: <Row extends object>(statement: string | DatabaseStatement) => client.query<Row>(statement),
    end: () => client.end(),
    destroy: () => void socket.destroy(),
    onError: (listener) => void client.on('error', listener),
    onEnd: (listener) => void client.on('end', listener),
    onNotification: (listener) => void client.on('notification', ({ payload = '' }) => listener(payload)),
    onNotice: (listener) => void client.on('notice', ({ code = '', message = '' }) => listener({ code, message })),
  }
}
