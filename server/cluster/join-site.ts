import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { onAbort } from '../../shared/abort.ts'
import { hasCode } from '../../shared/error-code.ts'
import type { Settings } from '../../shared/settings.ts'
import { firstMaterial } from '../controller/open-site.ts'
import type { ControllerOptions } from '../controller/options.ts'
import { connectionTimeouts } from '../edge/limits.ts'
import { RequestProof } from '../edge/request-proof.ts'
import { controllerCertificate, type TlsMaterial } from '../edge/tls.ts'
import { EventLog, type SharedEventLog } from '../event-log/event-log.ts'
import { StoredHighWaterMark } from '../event-log/log-seal.ts'
import type { SiteLogOptions } from '../event-log/site/site-log.ts'
import { StuckDisk } from '../lab/stuck-disk.ts'
import type { AskOthers, MemberOptions, RegisterWithLeader } from '../store/election/membership.ts'
import type { FencedStore, KnownController, SiteMember } from '../store/election/site-member.ts'
import { checkTimings, clusterTimes, electionTimes, shippedTimings } from '../store/election/timings.ts'
import { loadKeyFile } from '../store/files/key-file.ts'
import { parseDatabaseAddress } from '../store/postgres/database-address.ts'
import { createSealer, type Sealer } from '../store/sealer.ts'
import type { FlushGate } from '../store/storage.ts'
import { pauseOn, sleepOn, timeoutSignal } from '../store/system/time.ts'
import { FollowedSite } from './followed-site.ts'
import { askConsole, type AskPeer } from './peer-console.ts'

/** State of a controller that has joined a site and has no role yet. */
export interface JoinedSite {
  sealer: Sealer
  /** Simulated stuck disk of the lab: the flush gate of this controller's stores. */
  stuckDisk: StuckDisk
  events: SharedEventLog
  /** Minimum number of the log's last entry, in the site's store. */
  bound: StoredHighWaterMark
  member: SiteMember
  /** State of the site in the memory of this controller, in any role. */
  site: FollowedSite
  /** Certificate from the settings; undefined: plain HTTP. */
  tls: TlsMaterial | undefined
  /** See `controllerCertificate`. */
  certificate: TlsMaterial
}

/**
 * Joins a site.
 * @throws errors of `openMember`, KeyFileError, RefusalError (a certificate of the settings cannot be used), or errors
 * of the file system
 */
export async function openJoinedSite(options: SiteControllerOptions): Promise<JoinedSite> {
  const { dataFolder, logger } = options
  const sealer = options.sealer ?? createSealer(await loadKeyFile(options.sealKey ?? join(dataFolder, 'seal.key')))
  const stuckDisk = new StuckDisk()
  const member = await joinSite(options, { sealer, flushGate: stuckDisk }, 'fail')
  let events: SharedEventLog | undefined
  try {
    const site = new FollowedSite(member.followed, sealer)
    const bounds = (): Settings['events'] => site.settings().events
    const bound = new StoredHighWaterMark(site, member.id)
    const own = await EventLog.open({ dataFolder, sealer, logger, bounds, highWaterMark: bound })
    events = own
    events = await siteLogOf(options, { own, member, sealer, bounds })
    const tls = await firstMaterial(site.settings(), dataFolder, logger)
    return { sealer, stuckDisk, events, bound, member, site, tls, certificate: await controllerCertificate(dataFolder) }
  } catch (error) {
    await events?.close()
    await member.close()
    throw error
  }
}

/** Opens the event log of the site, into which this controller's own log is copied. */
async function siteLogOf(
  { database, name = hostname(), logger }: SiteControllerOptions,
  { own, member, sealer, bounds }: Pick<SiteLogOptions, 'own' | 'sealer' | 'bounds'> & { member: SiteMember },
): Promise<SharedEventLog> {
  // Loaded on demand: a site in files does not need these modules.
  const { SiteLog } = await import('../event-log/site/site-log.ts')
  const { DatabaseSession } = await import('../store/postgres/database-session.ts')
  const address = parseDatabaseAddress(database)
  const controller = { id: member.id, name }
  return new SiteLog({ own, connect: () => DatabaseSession.open(address), controller, sealer, logger, bounds })
}

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
async function joinSite(
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
