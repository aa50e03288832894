import type { EdgeServer } from '../edge/server.ts'
import type { Port } from '../http/listeners.ts'

/** A server as one of the controller's ports. */
export function portOf(server: EdgeServer): Port {
  return {
    async start(host, port, tls) {
      await server.start({ host, port, tls })
    },
    stop: (deadlineMs) => server.stop(deadlineMs),
    letGo: () => server.letGo(),
    secure: async (tls) => server.secure(tls),
    connections: () => server.connections,
    get url() {
      return server.url
    },
  }
}
