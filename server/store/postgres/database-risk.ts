/** Why others on the network can read or change what goes to a database: not encrypted, or its certificate is not verified. */
export type DatabaseRisk = 'plain' | 'unverified'

/** Sentence for logs and the console's API. */
export const databaseRiskMessages: Record<DatabaseRisk, string> = {
  plain:
    'The connection to the database on another machine is not encrypted: add ?sslmode=verify-full&sslrootcert=FILE to its address, FILE being the certificate of its authority.',
  unverified:
    'The certificate of the database is not verified, so that another machine can pose as it: use sslmode=verify-full&sslrootcert=FILE in its address.',
}
