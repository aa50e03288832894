import { stat, statfs } from 'node:fs/promises'
import { loopback } from '../../shared/bind-address.ts'
import type { ProcedureOutput } from '../../shared/console/contract.ts'
import type { RefusedClient } from '../../shared/console/older-clients.ts'
import type { Attention, OverviewView, Sample, SiteKeyView } from '../../shared/console/site.ts'
import type { BackupProof } from '../../shared/domain/backups.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { type Licence, licenceEnd, licenceSchema } from '../../shared/licence.ts'
import { webRtcLibrary } from '../../shared/media/webrtc-library.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import { ofProgram } from '../capabilities/capability.ts'
import { certificateInfo, type SiteTls } from '../edge/tls.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { FigureHistory } from '../observe/figures/figure-history.ts'
import { type Space, SpaceBudget, type SpaceClaim } from '../recordings/disk-space.ts'
import { versionIn } from '../store/record-edits.ts'
import type { Store, StoreBackup } from '../store/store.ts'
import type { CallOrigin, ProcedureHandlers, ProceduresOf } from './handlers.ts'
import type { AppliedSettings } from './settings-procedures.ts'

export interface SiteDependencies {
  capabilities: Pick<Capabilities, 'revoke'>
  store: Store
  pool: NodePool
  samples: { list(): Sample[] }
  figures: Pick<FigureHistory, 'view'>
  controller: () => string
  attention: () => Attention[]
  listeners: { views(): OverviewView['listeners'] }
  tls: SiteTls
  applied: AppliedSettings
  tlsMode: () => 'off' | 'file' | 'self-signed'
  /** Facts that do not change while the controller runs. */
  facts: { version: string; startedAt: number; folder: string; key: SiteKeyView }
  counts: () => OverviewView['counts']
  olderClients: { view(): OverviewView['older_clients']; dismiss(client: RefusedClient): void }
  /** Whether nothing has been created on the site yet. */
  fresh: () => boolean
  dismissWelcome: () => Promise<void>
  uploads: UploadSpace
  /** Replaces the console key; undefined on the desktop. */
  replaceKey: (() => { key: string; file: string }) | undefined
}

type CountedCollection = 'rooms' | 'credentials' | 'nodes' | 'devices' | 'accounts' | 'access_tokens' | 'wall_views'
type BackupView = ProcedureOutput<'backups.make'>

/** Maximum number of accounts and tokens named in a preview. */
const maxShown = 100

type Names = ProceduresOf<'overview' | 'licence' | 'backups' | 'tls' | 'console'>

/** Procedures on the site as a whole. */
export function siteHandlers(dependencies: SiteDependencies): ProcedureHandlers<Names> {
  const { store, pool, samples } = dependencies
  const proven = async (backup: StoreBackup, contents: boolean): Promise<BackupView> => ({
    ...backup,
    proof: await store.backups.proof(backup.name, contents),
  })
  return {
    'overview.get': () => overview(dependencies),
    'overview.samples': () => samples.list(),
    'overview.history': async ({ span, since }) => ({
      controller: dependencies.controller(),
      ...(await dependencies.figures.view(span, since)),
    }),
    'overview.dismiss_welcome': async () => {
      await dependencies.dismissWelcome()
      return {}
    },
    'overview.dismiss_losses': async () => {
      await store.dismissLosses()
      return {}
    },
    'overview.dismiss_older_client': (client) => {
      dependencies.olderClients.dismiss(client)
      return {}
    },
    'licence.get': () => {
      const licence = licenceOf(store)
      const { people, devices } = pool.presence.totals()
      return {
        ...licence,
        rooms: store.all('rooms').size,
        users: people + devices,
        expired: licenceEnd(licence) <= Date.now(),
        version: versionIn(store, { kind: 'licence', key: 'site' }),
      }
    },
    'licence.set': async (given) => {
      const licence = licenceSchema.parse(given)
      await store.transact(['licence'], (transaction) => transaction.put('licence', 'site', licence))
      return {}
    },
    'tls.info': () => certificateInfo(dependencies.tlsMode(), dependencies.tls.material),
    'backups.list': async () => await Promise.all((await store.backups.list()).map((backup) => proven(backup, false))),
    'backups.make': async () => await proven(await store.backups.make(true), false),
    'backups.keep': async ({ name, kept }) => {
      await store.backups.keep(name, kept)
      return {}
    },
    'backups.delete': async ({ name }) => {
      await store.backups.delete(name)
      return {}
    },
    'backups.write': async ({ upload, offset, data }, { accountId = '' }) => {
      const part = Buffer.from(data, 'base64')
      await dependencies.uploads.take(accountId, offset, part.length)
      await store.backups.takeUpload(upload, offset, part)
      return {}
    },
    'backups.add': async ({ upload }) => {
      try {
        return await proven(await store.backups.addUpload(upload), true)
      } finally {
        dependencies.uploads.end()
      }
    },
    'backups.read': async ({ name, offset, length }) => {
      const { bytes, total } = await store.backups.read(name, offset, length)
      return { data: bytes.toString('base64'), total }
    },
    'backups.preview': async ({ name }, origin) => {
      const { access, ...preview } = await store.restore.preview(name)
      const proof = await store.backups.proof(name, true)
      const count = (collection: CountedCollection): number => store.all(collection).size
      return {
        ...preview,
        access: access.slice(0, maxShown),
        access_total: access.length,
        proof,
        restorable: proof === 'good' || isAtMachine(origin),
        now: {
          rooms: count('rooms'),
          credentials: count('credentials'),
          nodes: count('nodes'),
          devices: count('devices'),
          accounts: count('accounts'),
          access_tokens: count('access_tokens'),
          wall_views: count('wall_views'),
        },
      }
    },
    'backups.restore': async ({ name }, origin) => {
      if (!isAtMachine(origin)) assertProven(await store.backups.proof(name, true), name)
      return { problems: await dependencies.applied.replace(() => store.restore.run(name)) }
    },
    'console.replace_key': async (_, { way }) => {
      if (dependencies.replaceKey === undefined) throw new RefusalError(refusal('desktopHasNoKey'))
      // A holder of the old key may have created links. The links are revoked before the key is replaced, so that the
      // key stays if the store fails. Links created meanwhile are revoked afterwards.
      const maker = { type: 'key' } as const
      await dependencies.capabilities.revoke({ maker }, ofProgram)
      const { key, file } = dependencies.replaceKey()
      await dependencies.capabilities.revoke({ maker }, ofProgram)
      // A session may be stolen: the new key is returned only to a caller who presented the old key in this call.
      return { key: way === undefined || way === 'key' ? key : '', file }
    },
  }
}

const unlimited: Licence = licenceSchema.parse({})

/**
 * Returns the licence in force; without one, the site is unlimited. Returns the same object until the licence changes.
 */
export function licenceOf(store: Store): Licence {
  return store.get('licence', 'site') ?? unlimited
}

function overview(dependencies: SiteDependencies): OverviewView {
  const status = dependencies.store.status()
  return {
    product: 'Roomdesk',
    version: dependencies.facts.version,
    runtime: {
      node: process.versions.node,
      webrtc: `${webRtcLibrary.name} ${webRtcLibrary.version}`,
      openssl: webRtcLibrary.openssl,
    },
    started_at: dependencies.facts.startedAt,
    listeners: dependencies.listeners.views(),
    store: {
      healthy: status.healthy,
      last_error: status.lastError ?? '',
      backlog: status.backlog,
      last_flush_ms: status.lastFlush,
      journal_bytes: status.journalBytes,
      snapshot_at: status.snapshotAt,
      notices: status.notices.slice(-50),
      losses: [...status.losses],
      folder: dependencies.facts.folder,
      key: dependencies.facts.key,
    },
    counts: dependencies.counts(),
    attention: dependencies.attention(),
    older_clients: dependencies.olderClients.view(),
    fresh: dependencies.fresh(),
  }
}

/**
 * Whether a call is made at the machine itself: from the window of the desktop application, or with the machine's
 * console key from a loopback address. A session of an account never counts, because it may be stolen.
 */
export function isAtMachine({ transport, way, client }: CallOrigin): boolean {
  if (transport === 'ipc' || transport === 'internal') return true
  return (way === 'key' || way === 'key_session') && loopback.test(client)
}

/** @throws RefusalError forbidden for a backup that this site did not create, or that was modified */
function assertProven(proof: BackupProof, name: string): void {
  if (proof === 'good') return
  throw new RefusalError(refusal('backupUnproven', { backup: name, proof }))
}

/** Number of bytes kept free for the store. */
const marginBytes = 200_000_000

interface UploadSpaceDependencies {
  folder: string
  /** Returns the recordings folder and the number of bytes kept free for it; undefined: the folder is unusable. */
  recordings: () => { folder: string; reserve: number } | undefined
  /** Returns the space on the file system of a folder, in bytes; undefined: uses `statfs`. */
  measure?: (folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>
}

/**
 * Disk space for the upload of a backup, one upload at a time. The archive is unpacked in the same folder, which needs
 * further space.
 */
export class UploadSpace {
  readonly #budget: SpaceBudget
  #claim: SpaceClaim | undefined

  constructor(dependencies: UploadSpaceDependencies) {
    this.#budget = new SpaceBudget(() => spaceOf(dependencies))
  }

  /** Reserves space for the next part of an upload. @throws RefusalError uploadNoSpace */
  async take(account: string, offset: number, bytes: number): Promise<void> {
    this.end()
    // The remaining need is this part, and the unpacked archive. The previous parts are already on the disk.
    const needed = bytes + offset + bytes
    this.#claim = await this.#budget.claim({ owner: `account ${account}`, bytes: needed, share: 1 })
    if (this.#claim === undefined) throw new RefusalError(refusal('uploadNoSpace'))
  }

  /** Ends the upload and releases its space. */
  end(): void {
    this.#claim?.release()
    this.#claim = undefined
  }
}

async function spaceOf({ folder, recordings, measure = measured }: UploadSpaceDependencies): Promise<Space> {
  const space = { ...(await measure(folder)), reserve: 0, margin: marginBytes }
  const recorded = recordings()
  if (recorded === undefined) return space
  const [own, other] = await Promise.all([stat(folder), stat(recorded.folder)])
  return own.dev === other.dev ? { ...space, reserve: recorded.reserve } : space
}

async function measured(folder: string): Promise<Pick<Space, 'free' | 'capacity'>> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, capacity: blocks * bsize }
}
