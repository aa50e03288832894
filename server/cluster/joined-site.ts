import { join } from 'node:path'
import type { Settings } from '../../shared/settings.ts'
import { controllerCertificate } from '../edge/controller-certificate.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import { StoredBound } from '../event-log/end-bound.ts'
import { EventLog } from '../event-log/event-log.ts'
import { joinSite, type SiteControllerOptions } from './join-site.ts'
import { firstMaterial } from '../controller/open-site.ts'
import { FollowedSite } from './followed-site.ts'
import { loadKeyFile } from '../store/files/key-file.ts'
import { createSealer, type Sealer } from '../store/sealer.ts'
import type { SiteMember } from '../store/election/site-member.ts'

/** State of a controller that has joined a site and has no role yet. */
export interface JoinedSite {
  sealer: Sealer
  events: EventLog
  /** Number that the event log has reached, in the site's store. */
  bound: StoredBound
  member: SiteMember
  /** State of the site as it is known here, whoever leads. */
  site: FollowedSite
  /** Certificate from the settings; undefined: plain HTTP. */
  tls: TlsMaterial | undefined
  /** See `controllerCertificate`. */
  certificate: TlsMaterial
}

/**
 * Joins a site.
 * @throws what `openMember` throws, KeyFileError, ConsoleError (a certificate of the settings cannot be used), or what the file system says
 */
export async function openJoinedSite(options: SiteControllerOptions): Promise<JoinedSite> {
  const { dataFolder, logger } = options
  const sealer = options.sealer ?? createSealer(await loadKeyFile(options.sealKey ?? join(dataFolder, 'seal.key')))
  const member = await joinSite(options, sealer, 'fail')
  let events: EventLog | undefined
  try {
    const site = new FollowedSite(member.followed, sealer)
    const bounds = (): Settings['events'] => site.settings().events
    const bound = new StoredBound(site, member.id)
    events = await EventLog.open({ dataFolder, sealer, logger, bounds, bound })
    const tls = await firstMaterial(site.settings(), dataFolder, logger)
    return { sealer, events, bound, member, site, tls, certificate: await controllerCertificate(dataFolder) }
  } catch (error) {
    await events?.close()
    await member.close()
    throw error
  }
}
