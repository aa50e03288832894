import type { Logger } from 'pino'
import { deviceOperations } from './device-api/device-operations.ts'
import { createListener, type Listener } from './http/listener.ts'
import { openApiDocument } from './http/openapi.ts'
import type { AnyOperation } from './http/operation.ts'
import type { Port } from './http/listeners.ts'
import { joinPage } from './media-api/join-page.ts'
import { mediaOperations } from './media-api/media-operations.ts'
import type { Services } from './services.ts'
import { productVersion } from './version.ts'

/** The two API listeners over the services. */
export function apiListeners(services: Services, log: Logger): { media: Port; device: Port } {
  const { sessions, settings, faults, observer, rooms, joinLinks, outgoing, authenticate } = services
  const make = (api: 'media' | 'device', operations: readonly AnyOperation[]): Port => {
    let document = ''
    return portOf(
      createListener({
        api,
        operations,
        sessions,
        settings,
        faults,
        observer,
        mounts: api === 'media' ? [joinPage({ links: joinLinks, observer })] : [],
        openApiDocument: () => {
          const contracts = operations.map(({ contract }) => contract)
          document ||= JSON.stringify(openApiDocument(api, contracts, productVersion))
          return document
        },
        log,
      }),
    )
  }
  return {
    media: make('media', [authenticate, ...mediaOperations({ rooms, joinLinks })]),
    device: make('device', deviceOperations({ outgoing })),
  }
}

function portOf(listener: Listener): Port {
  return {
    async start(host, port, tls) {
      await listener.start({ host, port, tls })
    },
    stop: (deadlineMs) => listener.stop(deadlineMs),
    secure: async (tls) => listener.secure(tls),
    connections: () => listener.connections,
    get url() {
      return listener.url
    },
  }
}
