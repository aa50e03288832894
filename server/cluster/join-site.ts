import { onAbort } from '../../shared/abort.ts'
import { hostname } from 'node:os'
import { pauseOn, sleepOn, timeoutSignal } from '../store/system/time.ts'
import { connectionTimeouts } from '../edge/limits.ts'
import type { ControllerOptions } from '../controller/options.ts'
import { RequestProof } from '../edge/request-proof.ts'
import { type AskPeer, askConsole } from './peer-console.ts'
import type { AskOthers, MemberOptions, RegisterWithLeader } from '../store/election/membership.ts'
import type { FlushGate } from '../store/storage.ts'
import type { Sealer } from '../store/sealer.ts'
import type { KnownController, FencedStore, SiteMember } from '../store/election/site-member.ts'
import { checkTimings, clusterTimes, electionTimes, shippedTimings } from '../store/election/timings.ts'
import { z } from 'zod'
import { hasCode } from '../../shared/error-code.ts'

/** Options of a controller whose site is in a database. */
export interface SiteControllerOptions extends ControllerOptions {
  database: string
  /** Options for tests. */
  member?: Pick<MemberOptions, 'times' | 'databaseDeadlines'>
}

interface MemberDependencies {
  sealer: Sealer
  /** Gate of the store's flushes while this controller leads. */
  flushGate: FlushGate
}

/**
 * Joins the controllers of a site.
 * @throws RangeError if the configured times contradict each other; errors of `openMember`
 */
export async function joinSite(
  options: SiteControllerOptions,
  { sealer, flushGate }: MemberDependencies,
  whenAway: 'fail' | 'wait',
  before?: SiteMember,
): Promise<SiteMember> {
  const { dataFolder: folder, database, logger, version, name = hostname(), member } = options
  const shipped = shippedTimings(connectionTimeouts.keepAliveMs)
  checkTimings({ ...shipped, election: { ...electionTimes, ...member?.times } })
  // Loaded on demand: a site in files does not need this module.
  const { openMember } = await import('../store/election/cluster-member.ts')
  const trust = { proof: RequestProof.by(sealer, ''), allowPlain: options.allowPlainControllers === true }
  const ask: AskPeer = (other, question, signal) => askConsole(other, question, trust, signal)
  return await openMember({
    ...member,
    folder,
    database,
    sealer,
    flushGate,
    logger,
    name,
    version,
    whenAway,
    askOthers: askOthersBy(ask),
    register: registerBy(ask),
    ...(before === undefined ? {} : { before }),
  })
}

/**
 * Joins the site again, and retries while the database is unreachable. The state of `before` stays in use meanwhile.
 * @throws the abort reason of `signal`
 */
export async function joinAgain(
  options: SiteControllerOptions,
  dependencies: MemberDependencies,
  signal: AbortSignal,
  before: SiteMember,
): Promise<SiteMember> {
  for (;;) {
    try {
      return await joinSite(options, dependencies, 'wait', before)
    } catch (error) {
      signal.throwIfAborted()
      options.logger.error({ err: error }, 'the site could not be joined again: it is tried again')
      await sleepOn(clusterTimes.changeRoleAgain, { signal })
    }
  }
}

/**
 * Returns the store of a starting controller if it becomes leader within `clusterTimes.startAsLeader`; undefined:
 * another controller leads, or no controller leads yet.
 * @throws the error of `leading`: this controller cannot lead at all
 */
export async function ledSoon(member: SiteMember, leading: Promise<FencedStore>): Promise<FencedStore | undefined> {
  const over = new AbortController()
  const other = new Promise<undefined>((resolve) => {
    const look = (): void => {
      const leader = member.leader()
      if (leader !== undefined && leader.id !== member.id) resolve(undefined)
    }
    onAbort(over.signal, member.onLeader(look))
    look()
  })
  const late = pauseOn(clusterTimes.startAsLeader, { signal: over.signal, ref: false }).then(() => undefined)
  try {
    return await Promise.race([leading, other, late])
  } finally {
    over.abort()
  }
}

const healthSchema = z.looseObject({ role: z.string(), epoch: z.string().default(''), store: z.unknown() })
type Health = z.infer<typeof healthSchema>

/**
 * Asks the other controllers whether they lead, and whether a replica reaches the database (`GET /healthz`). A
 * controller without a proven answer may be the leader.
 */
export function askOthersBy(ask: AskPeer): AskOthers {
  return async (others, signal) => {
    // A failed request counts as unproven.
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
    // A leader may step down and then answer as a replica. A controller without an epoch has just started, and may have
    // led before.
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

/** Registers this controller at the console of the leader (`POST /controllers`). */
export function registerBy(ask: AskPeer): RegisterWithLeader {
  return async (leader, joiner, signal) => {
    const question = { method: 'POST', path: '/controllers', body: JSON.stringify(joiner) }
    const deadline = AbortSignal.any([signal, timeoutSignal(clusterTimes.register)])
    try {
      const said = await ask(leader, question, deadline)
      return said?.status === 204 ? 'known' : 'open'
    } catch (error) {
      // The machine refuses the connection: no program is listening.
      return hasCode(error, 'ECONNREFUSED') ? 'gone' : 'open'
    }
  }
}
