import { rule } from '../refusals/complaints.ts'
import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameText } from '../operation.ts'
import { recordVersion, seenVersion } from '../domain/record-version.ts'
import { act, change, lasting, noEdit, read } from './declare.ts'
import { moment, emptyOutcome } from '../domain/outcome.ts'
import { admin, person, viewer } from './procedure-access.ts'
import { changes, subject } from './procedure-events.ts'
import { deleted } from './trash.ts'

/** Schema of printable ASCII without spaces, which is safe in URLs and shells. */
const token = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x21-\x7e]+$/, rule('ascii'))

/** Schema of a secret key. The key is never transmitted, so only untypable characters are rejected. */
const secret = z
  .string()
  .min(1)
  .max(limits.secretKey)
  .regex(/^\P{Cc}+$/u, rule('controls'))

/** Credential as shown in the console, without its secret. */
export const credentialView = z.strictObject({
  access_key: z.string(),
  label: z.string(),
  enabled: z.boolean(),
  p2p: z.boolean(),
  created_at: moment,
  rotated_at: moment,
  last_used_at: moment,
  sessions: z.int(),
  /** Number of existing rooms that this credential created. */
  rooms: z.int(),
  version: recordVersion,
})
export type CredentialView = z.output<typeof credentialView>

const label = nameText(limits.label)
/** Schema of a label in a site file. It also accepts labels of earlier versions, which must not prevent a start. */
export const siteFileLabel = z.string().trim().min(1).max(limits.label)
const key = z.strictObject({ access_key: z.string().min(1).max(limits.accessKey) })
const withSecret = z.strictObject({ credential: credentialView, secret_key: z.string() })

/** Credential as specified in a site file or by `credentials.create`. */
export const credentialInput = z.strictObject({
  label: label.default('Client'),
  /** Default: random. */
  access_key: token(limits.accessKey).optional(),
  /** Default: random. */
  secret_key: secret.optional(),
  p2p: z.boolean().default(false),
  enabled: z.boolean().default(true),
})

const credentialOf = ({ access_key }: { access_key: string }) => [subject.credential(access_key)]

export const credentialProcedures = {
  'credentials.list': read({
    summary: 'Every credential, without secrets.',
    input: emptyOutcome,
    output: z.array(credentialView),
    access: viewer('credentials:read'),
    refreshOn: ['credentials.changed'],
  }),
  'credentials.create': lasting({
    summary: 'Make a credential; the answer holds its secret.',
    input: credentialInput,
    output: withSecret,
    edits: noEdit('makes a credential'),
    access: person('admin'),
    event: changes('credential'),
  }),
  'credentials.update': change({
    summary: 'Change the label, enable or disable, allow P2P. Disabling ends its sessions.',
    input: key.extend({
      label: label.optional(),
      enabled: z.boolean().optional(),
      p2p: z.boolean().optional(),
      ...seenVersion,
    }),
    output: credentialView,
    edits: ({ access_key }) => ({ kind: 'credential', key: access_key }),
    access: admin('credentials:write'),
    // Enabling a disabled credential grants access again.
    needs: ({ enabled }) => ({ person: enabled === true }),
    event: changes('credential'),
  }),
  'credentials.rotate': lasting({
    summary:
      'Give it a new secret; ends its sessions at once, and with `end_links` its links, live streams and recordings.',
    input: key.extend({
      secret_key: secret.optional(),
      /**
       * Whether to end all links of the credential. Use this after a leak, because a holder of the old secret may have
       * created links. By default the links stay, so that a routine rotation interrupts nothing.
       */
      end_links: z.boolean().default(false),
    }),
    output: withSecret,
    access: person('admin'),
    event: { records: ['credential'], facts: ({ end_links }: { end_links: boolean }) => ({ end_links }) },
  }),
  'credentials.reveal': act({
    summary: 'Show its secret.',
    input: key,
    output: z.strictObject({ secret_key: z.string() }),
    access: person('admin'),
    event: { subjects: credentialOf, kind: 'secret.shown' },
  }),
  'credentials.delete': change({
    summary: 'Delete it; ends its sessions at once. Its rooms stay.',
    input: key,
    output: deleted,
    access: admin('credentials:write'),
    event: changes('credential'),
  }),
  'credentials.end_sessions': change({
    summary: 'End its sessions: its clients must authenticate again.',
    input: key,
    output: z.strictObject({ ended: z.int() }),
    access: admin('credentials:write'),
    event: { collection: 'sessions', subjects: credentialOf, counts: 'ended' },
  }),
  'credentials.curl': act({
    summary: 'A curl line that authenticates with a computed digest.',
    input: key,
    output: z.strictObject({ command: z.string(), digest: z.string(), url: z.string() }),
    // The digest is sufficient to authenticate.
    access: person('admin'),
    event: { subjects: credentialOf, kind: 'secret.shown' },
  }),
}
