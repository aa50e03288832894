import type { JanusAccess } from '../../secrets/janus-access.ts'
import { AdminApi, type AdminApiOptions } from '../wire/admin-api.ts'
import { janusCodes } from '../wire/janus-error.ts'
import type { Findings } from './janus-findings.ts'
import { refusalOf, whyUnreachable } from './trial-call.ts'

/**
 * Tries the Admin API of a node.
 * @returns it, where it obeys; the caller closes it
 * @throws the signal's reason
 */
export async function inspectAdmin(
  { adminUrl, secrets, leadership }: JanusAccess,
  findings: Findings,
  signal: AbortSignal,
): Promise<AdminApi | undefined> {
  if (adminUrl === '') {
    findings.add('adminUnused')
    return undefined
  }
  const admin = new AdminApi({ url: adminUrl, secret: secrets.admin_secret, leadership })
  try {
    if ((await listSessions(admin, signal)) === janusCodes.unauthorized) {
      findings.add('adminSecretWrong')
    } else {
      if (await isOpenToAll({ url: adminUrl, leadership }, signal)) findings.add('adminOpen')
      return admin
    }
  } catch (error) {
    signal.throwIfAborted()
    const why = whyUnreachable(error)
    if (why === undefined) findings.add('adminNotJanus', { reason: error instanceof Error ? error.message : '' })
    else findings.add('adminUnreachable', { reason: why })
  }
  admin.close()
  return undefined
}

/** Whether the address obeys any caller. */
async function isOpenToAll(at: Pick<AdminApiOptions, 'url' | 'leadership'>, signal: AbortSignal): Promise<boolean> {
  const stranger = new AdminApi({ ...at, secret: '' })
  try {
    return (await listSessions(stranger, signal)) === 0
  } finally {
    stranger.close()
  }
}

function listSessions(admin: AdminApi, signal: AbortSignal): Promise<number> {
  return refusalOf(admin.ask({ janus: 'list_sessions' }, signal))
}
