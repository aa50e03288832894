import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { FencedStore, SiteMember } from '../../../server/store/election/site-member.ts'
import type { MemberOptions } from '../../../server/store/election/membership.ts'
import { openMember } from '../../../server/store/election/cluster-member.ts'
import { DatabaseProxy } from '../postgres/database-proxy.ts'
import type { PostgresServer } from '../postgres/postgres-server.ts'
import { sealer, temporaryFolder } from './store-site.ts'

/** Times for short tests. */
export const times = {
  lease: 600,
  renew: 150,
  reads: 150,
  // As long as `reads`: a test of its own lets proofs count for longer.
  maxReads: 150,
  prove: 40,
  ask: 150,
  margin: 50,
  attempt: 20,
  poll: 40,
  successor: 400,
  comeBack: 300,
}
export const databaseDeadlines = { connect: 2_000, answer: 1_000 }

/** A controller of a site, with its own proxy of the database, which can break. */
export interface TestController {
  readonly name: string
  readonly member: SiteMember
  readonly proxy: DatabaseProxy
  /** Store while it leads; undefined: it does not lead. */
  led: FencedStore | undefined
  /** Takes the lead as soon as possible. */
  lead(): Promise<FencedStore>
  /** Resolves when it is closed. */
  readonly closed: Promise<void>
  /** Closes everything, like a program that was fenced or has ended. */
  close(): Promise<void>
}

/** `folder`: that of a closed controller. `database`: another address behind its own proxy. */
export type TestOptions = Partial<Omit<MemberOptions, 'database'>> & {
  database?: string | ((way: DatabaseProxy) => string)
}

export interface TestSite {
  readonly server: PostgresServer
  readonly schema: string
  /** Opens a further controller. */
  controller(name: string, options?: TestOptions): Promise<TestController>
}

/** Creates a site without controllers in a database of the tests. */
export async function siteOfControllers(server: PostgresServer): Promise<TestSite> {
  const schema = await server.newSchema()
  // Removed after the controllers were closed: what is registered last runs first.
  const folders = await temporaryFolder()
  const opened: TestController[] = []
  onTestFinished(async () => {
    for (const controller of opened) await controller.close()
  })
  return {
    server,
    schema,
    controller: async (name, options) => {
      const folder = options?.folder ?? (await mkdtemp(join(folders, `${name}-`)))
      const controller = await controllerOf(server, schema, name, { ...options, folder })
      opened.push(controller)
      return controller
    },
  }
}

async function controllerOf(
  server: PostgresServer,
  schema: string,
  name: string,
  { database, ...options }: TestOptions & Pick<MemberOptions, 'folder'>,
): Promise<TestController> {
  const proxy = await DatabaseProxy.open(server.socket)
  const member = await openMember({
    database: typeof database === 'function' ? database(proxy) : (database ?? server.address(schema, proxy.host)),
    databaseDeadlines,
    deadlineMs: () => 3_000,
    sealer,
    name,
    version: '1.2.3',
    times,
    ...options,
  }).catch(async (error: unknown) => {
    await proxy.close()
    throw error
  })
  const ended = new AbortController()
  let closing: Promise<void> | undefined
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const controller: TestController = {
    name,
    member,
    proxy,
    led: undefined,
    lead: async () => (controller.led = await member.lead(ended.signal)),
    close: () =>
      (closing ??= (async () => {
        ended.abort(new Error('closed'))
        await controller.led?.close().catch(() => undefined)
        await member.close()
        await proxy.close()
        resolve()
      })()),
    closed,
  }
  return controller
}
