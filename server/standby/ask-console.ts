import { request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ControllerPlace } from '../store/site-member.ts'
import { connectTo, leaderPort } from './leader-connection.ts'

/** What is asked of another controller's console. */
export interface ConsoleQuestion {
  method?: string
  path: string
  headers?: Record<string, string>
  /** JSON; left out: none. */
  body?: string
}

/**
 * Asks the console of another controller, whether it leads or not, by a connection of its own.
 * @returns undefined: it has none
 * @throws what the connection says; what `signal` is aborted with
 */
export async function askConsole(
  { console: url, certificate }: Pick<ControllerPlace, 'console' | 'certificate'>,
  { method = 'GET', path, headers, body = '' }: ConsoleQuestion,
  signal: AbortSignal,
): Promise<{ status: number; body: string } | undefined> {
  const port = leaderPort(url, certificate)
  if (port === undefined) return undefined
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const aborted = (): void => reject(signal.reason)
  signal.addEventListener('abort', aborted, { once: true })
  connectTo(port, (error, socket) => {
    if (error !== null) return reject(error)
    if (signal.aborted) return void socket.destroy()
    const asked = send({
      createConnection: () => socket,
      method,
      path,
      headers: {
        // Whoever proves to be of the site may come by any name.
        host: 'localhost',
        connection: 'close',
        ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
      signal,
    })
    asked.on('error', reject)
    asked.once('response', (response) => {
      text(response).then((said) => resolve({ status: response.statusCode ?? 0, body: said }), reject)
    })
    asked.end(body)
  })
  return await promise.finally(() => signal.removeEventListener('abort', aborted))
}
