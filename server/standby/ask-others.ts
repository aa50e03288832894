import { z } from 'zod'
import type { OthersSaid } from '../store/postgres/member-options.ts'
import type { KnownController } from '../store/site-member.ts'
import { askConsole } from './ask-console.ts'

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
  const said = await askConsole(place, { path: '/healthz' }, signal)
  return said === undefined ? undefined : healthSchema.safeParse(JSON.parse(said.body)).data
}
