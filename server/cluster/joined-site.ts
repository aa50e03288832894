import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../../shared/settings.ts'
import { controllerCertificate, type TlsMaterial } from '../edge/tls.ts'
import { StoredHighWaterMark } from '../event-log/log-seal.ts'
import { EventLog, type SharedEventLog } from '../event-log/event-log.ts'
import type { SiteLogOptions } from '../event-log/site/site-log.ts'
import { joinSite, type SiteControllerOptions } from './join-site.ts'
import { firstMaterial } from '../controller/open-site.ts'
import { StuckDisk } from '../lab/stuck-disk.ts'
import { FollowedSite } from './followed-site.ts'
import { parseDatabaseAddress } from '../store/postgres/database-address.ts'
import { loadKeyFile } from '../store/files/key-file.ts'
import { createSealer, type Sealer } from '../store/sealer.ts'
import type { SiteMember } from '../store/election/site-member.ts'

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
