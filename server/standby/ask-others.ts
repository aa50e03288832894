import { request as send } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import type { OthersSaid } from '../store/postgres/member-options.ts'
import type { KnownController } from '../store/site-member.ts'
import { connectTo, leaderPort } from './leader-connection.ts'

const healthSchema = z.looseObject({ role: z.string(), epoch: z.string().default(''), store: z.unknown() })
type Health = z.infer<typeof healthSchema>

/** Who leads, as the other controllers say themselves (`GET /healthz`), and whether one that stands by reaches the database. */
export async function askOthers(others: readonly KnownController[], signal: AbortSignal): Promise<OthersSaid> {
  const said = await Promise.all(others.map((other) => healthOf(other, signal).catch(() => undefined)))
  let leader: { id: string; epoch: string } | undefined
  for (const [index, { id }] of others.entries()) {
    const { role, epoch = '' } = said[index] ?? {}
    if (role !== 'leader' || !/^\d{1,18}$/.test(epoch)) continue
    if (leader === undefined || BigInt(epoch) > BigInt(leader.epoch)) leader = { id, epoch }
  }
  const reachDatabase = said.some((health) => health?.role === 'standby' && health.store === 'ok')
  return leader === undefined ? { reachDatabase } : { leader, reachDatabase }
}

async function healthOf({ place }: KnownController, signal: AbortSignal): Promise<Health | undefined> {
  const port = leaderPort(place.console, place.certificate)
  if (port === undefined) return undefined
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  connectTo(port, (error, socket) => {
    if (error !== null) return reject(error)
    const headers = { host: 'localhost', connection: 'close' }
    const asked = send({ createConnection: () => socket, path: '/healthz', headers, signal })
    asked.on('error', reject)
    asked.once('response', (response) => json(response).then(resolve, reject))
    asked.end()
  })
  return healthSchema.safeParse(await promise).data
}
