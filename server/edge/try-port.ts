import { createServer } from 'node:net'
import { ListenError, listenError } from './listen-error.ts'

/**
 * Binds a port for a moment. Resolves to the error if the port cannot be used, otherwise to undefined.
 * @param name name of the listener, for the message
 */
export async function tryPort(name: string, host: string, port: number): Promise<ListenError | undefined> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, name, host, port)))
      server.listen({ host, port, exclusive: true }, () => resolve())
    })
  } catch (error) {
    if (error instanceof ListenError) return error
    throw error
  }
  await new Promise((resolve) => server.close(resolve))
  return undefined
}
