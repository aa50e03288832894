import type { ConsoleResult } from '../../../shared/domain/outcome.ts'
import type { WantedFault } from '../../../shared/console/lab.ts'
import type { ScenarioPreview } from '../../../shared/console/scenarios.ts'
import type { Licence } from '../../../shared/licence.ts'
import { type Refusal, refusal } from '../../../shared/refusals/refusal.ts'
import { hideSecrets, type Settings, type SettingsPatch, settingsPatchSchema } from '../../../shared/settings.ts'
import type { StoredScenarioRun } from '../../store/records.ts'
import type { Scenario } from './format.ts'
import { type Step, valueAt } from './step-schema.ts'

/** Parts of the settings that a scenario must not change on a running site: they decide how it is reached. */
const keptParts = ['listeners', 'tls', 'console', 'backups', 'events', 'object_storage'] as const

/** The site before a run. */
export interface SiteBefore {
  settings: Settings
  licence: Licence
  faults: readonly WantedFault[]
  credentials: ReadonlySet<string>
  nodes: ReadonlySet<string>
  /** Whether an enabled node carries media: such nodes take all rooms of clients. */
  carriesMedia: boolean
  cameras: ReadonlySet<string>
  /** Groups of test people. */
  people: ReadonlySet<string>
}

const inputOf = (step: Step, procedure: string): Readonly<Record<string, unknown>> | undefined =>
  step.kind === 'call' && step.call === procedure ? step.input : undefined

/** Settings that a scenario changes, at its beginning or by steps. */
function patchesOf({ site, steps }: Scenario): SettingsPatch[] {
  const bySteps = steps.flatMap((step) => {
    const read = settingsPatchSchema.safeParse(inputOf(step, 'settings.set'))
    return read.success ? [read.data] : []
  })
  return [...(site.settings === undefined ? [] : [site.settings]), ...bySteps]
}

/** Returns the paths of the settings in patches, such as `access.token_idle_ms`. */
function pathsOf(patches: readonly SettingsPatch[]): string[] {
  const paths = patches.flatMap((patch) =>
    Object.entries(patch).flatMap(([part, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.keys(value).map((name) => `${part}.${name}`)
        : [part],
    ),
  )
  return [...new Set(paths)]
}

/** Names of what a procedure of the lab puts, or the site of a scenario has. */
function namesOf(inSite: readonly { name: string }[] = [], steps: readonly Step[], procedure: string): string[] {
  const bySteps = steps.flatMap((step) => {
    const name = inputOf(step, procedure)?.name
    return typeof name === 'string' ? [name] : []
  })
  return [...new Set([...inSite.map(({ name }) => name), ...bySteps])]
}

const camerasOf = ({ site, steps }: Scenario): string[] => namesOf(site.lab?.cameras, steps, 'lab.put_camera')
const peopleOf = ({ site, steps }: Scenario): string[] => namesOf(site.lab?.people, steps, 'lab.put_people')

/** Returns what a run of a scenario does to a site. */
export function effectsOf(scenario: Scenario, before: Pick<SiteBefore, 'nodes'>): ScenarioPreview['effects'] {
  const { site, steps } = scenario
  const calls = (...names: string[]): boolean => steps.some((step) => step.kind === 'call' && names.includes(step.call))
  return {
    credentials: (site.credentials ?? []).map(({ access_key, label }) => label ?? access_key),
    nodes: (site.nodes ?? []).map(({ name }) => name).filter((name) => !before.nodes.has(name)),
    cameras: camerasOf(scenario),
    people: peopleOf(scenario),
    settings: pathsOf(patchesOf(scenario)),
    licence: site.licence !== undefined || calls('licence.set'),
    rooms: calls('rooms.create') || steps.some((step) => step.kind === 'api' && step.api === 'create_room'),
    faults: calls('lab.set_faults'),
    disk: calls('lab.stall_store'),
  }
}

/** Returns why a scenario cannot run on this site; empty: it can. */
export function hindrancesOf(scenario: Scenario, before: SiteBefore): Refusal[] {
  const { site, steps } = scenario
  const settings = pathsOf(patchesOf(scenario))
  const isFixed = (path: string): boolean => keptParts.some((part) => path === part || path.startsWith(`${part}.`))
  const people = steps.findIndex((step) => inputOf(step, 'lab.join') !== undefined)
  const accessKeys = (site.credentials ?? []).map(({ access_key }) => access_key)
  return [
    ...(people >= 0 && before.carriesMedia ? [refusal('scenarioNeedsSimulated', { step: people + 1 })] : []),
    ...accessKeys
      .filter((access_key) => before.credentials.has(access_key))
      .map((access_key) => refusal('scenarioCredentialTaken', { access_key })),
    ...camerasOf(scenario)
      .filter((name) => before.cameras.has(name))
      .map((name) => refusal('scenarioCameraTaken', { name })),
    ...peopleOf(scenario)
      .filter((name) => before.people.has(name))
      .map((name) => refusal('scenarioPeopleTaken', { name })),
    ...settings.filter(isFixed).map((setting) => refusal('scenarioSettingFixed', { setting })),
    ...settings
      .filter((setting) => isSecret(setting, before.settings))
      .map((setting) => refusal('scenarioSettingSecret', { setting })),
  ]
}

function isSecret(path: string, settings: Settings): boolean {
  return JSON.stringify(valueAt(settings, path)) !== JSON.stringify(valueAt(hideSecrets(settings), path))
}

/** Returns the record of what a run of a scenario must take back. Rooms and devices are added as they are made. */
export function recordOf(scenario: Scenario, before: SiteBefore, startedAt: number): StoredScenarioRun {
  const { licence, nodes } = before
  const effects = effectsOf(scenario, before)
  const troubled = scenario.steps.flatMap((step) => {
    const name = inputOf(step, 'lab.node_trouble')?.name ?? inputOf(step, 'lab.device_trouble')?.name
    return typeof name === 'string' ? [name] : []
  })
  const drawn = Object.values(scenario.draw).flat()
  const named = troubled.some((name) => name.includes('${')) ? drawn.map(String) : troubled
  return {
    ...{ name: scenario.name, title: scenario.title, description: scenario.description, started_at: startedAt },
    credentials: (scenario.site.credentials ?? []).map(({ access_key }) => access_key),
    nodes: effects.nodes,
    cameras: effects.cameras,
    people: effects.people,
    troubled_nodes: [...new Set(named)].filter((name) => nodes.has(name)),
    settings: settingsAt(effects.settings, before.settings),
    licence: effects.licence ? licence : null,
    faults: effects.faults ? [...before.faults] : null,
    disk: effects.disk,
    rooms: [],
    devices: [],
  }
}

function settingsAt(paths: readonly string[], settings: Settings): Record<string, unknown> {
  const patch: Record<string, unknown> = {}
  for (const path of paths) {
    const [part = '', name] = path.split('.')
    const value = valueAt(settings, path)
    if (name === undefined) patch[part] = value
    else patch[part] = { ...(patch[part] as object | undefined), [name]: value }
  }
  return patch
}

/** Calls a procedure of the console; never rejects. */
export type CallProcedure = (procedure: string, input: unknown) => Promise<ConsoleResult<unknown>>

/** Errors that mean that nothing is left to take back. */
const alreadyGone = 'NotFound'

/**
 * Takes back what a run made and changed.
 * @returns what could not be taken back, in English
 */
export async function restoreSite(record: StoredScenarioRun, call: CallProcedure): Promise<string[]> {
  const left: string[] = []
  const attempt = async (what: string, procedure: string, input: unknown): Promise<void> => {
    const result = await call(procedure, input)
    if (!result.ok && !result.error.name.endsWith(alreadyGone)) left.push(`${what}: ${result.error.message}`)
  }
  if (record.disk) await attempt('writes to the disk', 'lab.stall_store', { stalled: false })
  if (record.faults !== null) await attempt('fault rules', 'lab.set_faults', { rules: record.faults })
  for (const name of record.troubled_nodes) {
    await attempt(`faults of ${name}`, 'lab.node_trouble', { name, mode: 'none' })
    await attempt(`faults of devices on ${name}`, 'lab.device_trouble', { name, rules: [] })
  }
  if (record.licence !== null) await attempt('licence', 'licence.set', record.licence)
  if (Object.keys(record.settings).length > 0) await attempt('settings', 'settings.set', record.settings)
  for (const group of record.people) await attempt(`test people ${group}`, 'lab.remove_people', { group })
  if (record.devices.length > 0) await attempt('devices', 'devices.remove', { userIds: record.devices })
  if (record.rooms.length > 0) await attempt('rooms', 'rooms.delete', { room_ids: record.rooms })
  for (const camera of record.cameras) await attempt(`test camera ${camera}`, 'lab.remove_camera', { camera })
  for (const name of record.nodes) await attempt(`node ${name}`, 'nodes.remove', { name })
  for (const access_key of record.credentials)
    await attempt(`credential ${access_key}`, 'credentials.delete', { access_key })
  return left
}
