import { z } from 'zod'
import { moment } from './outcome.ts'
import { roleNames } from './roles.ts'

/**
 * Result of verifying the origin of a backup with the site's key. `good`: created by this site; `missing`: without
 * proof, created by an earlier version or another program; `wrong`: modified, or created by another site.
 */
export const backupProofs = ['good', 'missing', 'wrong'] as const
export type BackupProof = (typeof backupProofs)[number]

/** Effect of a restore on an account or an access token. */
export const accessChange = z.strictObject({
  kind: z.enum(['account', 'token']),
  change: z.enum(['gained', 'lost', 'changed']),
  /** Name of the account, or label of the token. */
  name: z.string(),
  /** Name of the account; empty: the account of the token is missing. */
  account: z.string(),
  /** Role after the restore; for a loss, role before it. */
  role: z.enum(roleNames),
  enabled: z.boolean(),
  expires_at: moment,
})
export type AccessChange = z.output<typeof accessChange>
