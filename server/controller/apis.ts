import type { OperationContract } from '../../shared/operation.ts'
import type { Logger } from 'pino'
import { implementDeviceOperations } from '../apis/device-operations.ts'
import { createListener, type ListenerOptions } from '../http/listener.ts'
import { openApiDocument } from '../http/openapi.ts'
import type { AnyOperation } from '../http/operation.ts'
import { type Port, portOf } from '../http/listeners.ts'
import { joinPage, shortLinkPage } from '../apis/join-pages.ts'
import { implementMediaOperations } from '../apis/media-operations.ts'
import type { Services } from './services.ts'

/** Options that a leader adds to its listeners; see ListenerOptions. */
export type ListenersOfLeader = Pick<ListenerOptions, 'passToLeader' | 'proof' | 'kept'>

/** Composes the two API listeners over the services. */
export function apiListeners(
  services: Services,
  { logger: log, version }: { logger: Logger; version: string },
  ofLeader: ListenersOfLeader = {},
): { media: Port; device: Port } {
  const { sessions, settings, faults, observer, rooms, joinLinks, outgoing, authenticate } = services
  const { leadership } = services.store
  const { olderClients, clientEvents: causes, fieldOperations, orders, orderPages, holderPages } = services
  const make = (api: 'media' | 'device', operations: readonly AnyOperation[]): Port => {
    const compatibility = { operations: fieldOperations[api], switches: () => olderClients.switches }
    const listener = createListener({
      api,
      operations,
      compatibility,
      sessions,
      settings,
      causes,
      observer,
      leadership,
      mounts: {
        'GET /jroom/': joinPage({ links: joinLinks, observer, leadership }),
        'GET /j/:code': shortLinkPage(joinLinks, holderPages),
        ...orderPages,
      },
      openApiDocument: documentOf(api, version),
      log,
      ...ofLeader,
    })
    faults.installIn(listener)
    return portOf(listener)
  }
  return {
    media: make('media', implementMediaOperations({ authenticate, rooms, joinLinks, orders })),
    device: make('device', implementDeviceOperations({ outgoing })),
  }
}

/** Returns a function that makes the text of `GET /openapi.json` for the current operations, and caches each text. */
function documentOf(api: 'media' | 'device', version: string): (contracts: readonly OperationContract[]) => string {
  const documents = new WeakMap<readonly OperationContract[], string>()
  return (contracts) => {
    const document = documents.get(contracts) ?? JSON.stringify(openApiDocument(api, contracts, version))
    documents.set(contracts, document)
    return document
  }
}
