import { z } from 'zod'
import type { AskOthers } from '../store/election/member-options.ts'
import type { KnownController } from '../store/election/site-member.ts'
import type { AskPeer } from './peer-console.ts'

const healthSchema = z.looseObject({ role: z.string(), epoch: z.string().default(''), store: z.unknown() })
type Health = z.infer<typeof healthSchema>

/** Asks the other controllers who leads (`GET /healthz`), and whether a replica reaches the database. Whoever does not answer, or whose answer is not its own, may lead. */
export function askOthersBy(ask: AskPeer): AskOthers {
  return async (others, signal) => {
    // See above: such a controller may lead.
    const said = await Promise.all(others.map((other) => healthOf(other, ask, signal).catch(() => undefined)))
    let leader: { id: string; epoch: string } | undefined
    let newest: string | undefined
    for (const [index, { id }] of others.entries()) {
      const { role, epoch = '' } = said[index] ?? {}
      if (!isEpoch(epoch)) continue
      if (newest === undefined || BigInt(epoch) > BigInt(newest)) newest = epoch
      if (role === 'leader' && (leader === undefined || BigInt(epoch) > BigInt(leader.epoch))) leader = { id, epoch }
    }
    const reachDatabase = said.some((health) => health?.role === 'standby' && health.store === 'ok')
    // One that leads is a replica in the next moment, and answers again then. One that knows no epoch has started since, and may have led before.
    const unproven = said.some((health) => health?.role !== 'standby' || !isEpoch(health.epoch))
    return {
      ...(leader === undefined ? {} : { leader }),
      ...(newest === undefined ? {} : { epoch: newest }),
      reachDatabase,
      unproven,
    }
  }
}

const isEpoch = (text: string): boolean => /^\d{1,18}$/.test(text)

async function healthOf(other: KnownController, ask: AskPeer, signal: AbortSignal): Promise<Health | undefined> {
  const said = await ask(other, { path: '/healthz' }, signal)
  return said === undefined ? undefined : healthSchema.safeParse(JSON.parse(said.body)).data
}
