import { rule } from '../refusals/complaints.ts'
import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameText } from '../operation.ts'
import { edit, recordVersion, seenVersion } from './edit.ts'
import { moment, nothing, procedure } from './procedure.ts'
import { deleted } from './trash.ts'

/** Printable ASCII without spaces: it must survive a URL and a shell. */
const token = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x21-\x7e]+$/, rule('ascii'))

/** It never travels, so only untypable characters are refused. */
const secret = z
  .string()
  .min(1)
  .max(limits.secretKey)
  .regex(/^\P{Cc}+$/u, rule('controls'))

/** A credential as the console shows it: without its secret. */
export const credentialView = z.strictObject({
  access_key: z.string(),
  label: z.string(),
  enabled: z.boolean(),
  p2p: z.boolean(),
  created_at: moment,
  rotated_at: moment,
  last_used_at: moment,
  sessions: z.int(),
  /** Number of existing rooms that it created. */
  rooms: z.int(),
  version: recordVersion,
})
export type CredentialView = z.output<typeof credentialView>

const label = nameText(limits.label)
/** Label in a site file: one accepted by an earlier version must not stop a start. */
export const siteFileLabel = z.string().trim().min(1).max(limits.label)
const key = z.strictObject({ access_key: z.string().min(1).max(limits.accessKey) })
const withSecret = z.strictObject({ credential: credentialView, secret_key: z.string() })

/** Content of a site file. */
export const credentialInput = z.strictObject({
  label: label.default('Client'),
  /** Default: generated at random. */
  access_key: token(limits.accessKey).optional(),
  /** Default: generated at random. */
  secret_key: secret.optional(),
  p2p: z.boolean().default(false),
  enabled: z.boolean().default(true),
})

export const credentialProcedures = {
  'credentials.list': procedure('Every credential, without secrets.', nothing, z.array(credentialView)),
  'credentials.create': procedure('Make a credential; the answer holds its secret.', credentialInput, withSecret),
  'credentials.update': edit(
    'Change the label, enable or disable, allow P2P. Disabling ends its sessions.',
    key.extend({
      label: label.optional(),
      enabled: z.boolean().optional(),
      p2p: z.boolean().optional(),
      ...seenVersion,
    }),
    credentialView,
    ({ access_key }) => ({ kind: 'credential', key: access_key }),
  ),
  'credentials.rotate': procedure(
    'Give it a new secret; ends its sessions at once, and with `end_links` its links, live streams and recordings.',
    key.extend({
      secret_key: secret.optional(),
      /** After a leak: whoever had the old secret may have made some. Default: they last, so that a routine rotation interrupts nothing. */
      end_links: z.boolean().default(false),
    }),
    withSecret,
  ),
  'credentials.reveal': procedure('Show its secret.', key, z.strictObject({ secret_key: z.string() })),
  'credentials.delete': procedure('Delete it; ends its sessions at once. Its rooms stay.', key, deleted),
  'credentials.end_sessions': procedure(
    'End its sessions: its clients must authenticate again.',
    key,
    z.strictObject({ ended: z.int() }),
  ),
  'credentials.curl': procedure(
    'A curl line that authenticates with a computed digest.',
    key,
    z.strictObject({ command: z.string(), digest: z.string(), url: z.string() }),
  ),
}
