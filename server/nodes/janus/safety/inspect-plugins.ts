import type { JanusFields } from '../wire/admin-api.ts'
import { janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle, JanusPlugin } from '../wire/janus-handle.ts'
import type { Findings } from './janus-findings.ts'
import { refusalOf } from './trial-call.ts'

/** A plugin's answer to requests that cannot succeed: the fault that it names shows which secrets it requires. Nothing is created. */
interface PluginTrial {
  /** About something that is not there, by a name. */
  named: JanusFields
  /** Request that is refused for its form only after the check of the admin_key. */
  create: JanusFields
  /** A value of the wrong type or content. */
  invalid: number
  /** The admin_key is missing, or wrong. */
  keyRefused: readonly number[]
  open: 'roomsCreatable' | 'camerasCreatable'
}

const trials: Readonly<Record<JanusPlugin, PluginTrial>> = {
  'janus.plugin.videoroom': {
    named: { request: 'exists', room: 'roomdesk-test' },
    create: { request: 'create', room: 'roomdesk-test', audiocodec: 'none' },
    invalid: 430,
    keyRefused: [429, janusCodes.roomUnauthorized],
    open: 'roomsCreatable',
  },
  'janus.plugin.streaming': {
    named: { request: 'info', id: 'roomdesk-test' },
    create: { request: 'create', type: 'none' },
    invalid: 454,
    keyRefused: [453, 457],
    open: 'camerasCreatable',
  },
}

/** Tries whether a plugin takes names, and who may create something. Returns whether rooms or mountpoints can be made. @throws as JanusSocket.request */
export async function inspectPlugin(
  handle: JanusHandle,
  adminKey: string,
  findings: Findings,
  signal: AbortSignal,
): Promise<boolean> {
  const { plugin } = handle
  const { named, create, invalid, keyRefused, open } = trials[plugin]
  const refusal = (request: JanusFields): Promise<number> => refusalOf(handle.request(request, signal))
  if ((await refusal(named)) === invalid) {
    findings.add('stringIdsOff', { plugin })
    return false
  }
  if (!keyRefused.includes(await refusal(create))) findings.add(open)
  const withKey = await refusal({ ...create, admin_key: adminKey })
  if (!keyRefused.includes(withKey)) return true
  findings.add('adminKeyWrong', { plugin })
  return false
}
