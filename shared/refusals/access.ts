import type { RefusalTable } from './template.ts'

/** Refusals concerning the caller: sign-in, roles, accounts, tokens and credentials. */
export const accessRefusals = {
  roleMissing: ['forbidden', '{procedure} needs the role {role}.'],
  personNeeded: ['forbidden', 'An access token cannot call {procedure}: sign in with the password.'],
  scopeMissing: ['forbidden', '{procedure} needs an access token with the scope {scope}.'],
  passwordNeeded: [
    'forbidden',
    '{procedure} needs your password, given within the last {minutes} minutes: call account.confirm_password first.',
  ],
  keyNeeded: [
    'forbidden',
    '{procedure} needs the console key, given within the last {minutes} minutes: send it to POST /session again, or call with Authorization: Bearer <key>.',
  ],
  watchingPeople: [
    'forbidden',
    'Watching people needs the role operator or admin, unless the setting console.viewers_watch is on.',
  ],

  signInMalformed: ['invalid', 'Send a JSON object with name and password, or with key, the console key.'],
  ticketMalformed: ['invalid', 'Send a JSON object with path, which begins with {prefix}.'],
  noSession: [
    'unauthorized',
    'Only the page of a signed-in browser needs a ticket: send Authorization: Bearer <token> with the download.',
  ],
  signInWrong: ['unauthorized', 'The name or the password is wrong.'],
  keyWrong: ['unauthorized', 'The console key is wrong.'],
  keyOff: ['unauthorized', 'The console key is switched off: sign in with an account.'],
  keyOffToken: ['unauthorized', 'The console key is switched off: send an access token.'],
  tokenWrong: ['unauthorized', 'The access token is wrong, or has ended.'],
  tokenMissing: ['unauthorized', 'Send an access token: Authorization: Bearer <token>.'],
  tokenOrKeyMissing: [
    'unauthorized',
    'Send an access token or the console key (the line of console.key in the data folder): Authorization: Bearer <token>.',
  ],
  tooManyKeys: ['unauthorized', 'Too many wrong keys: try again in {seconds} s.'],
  tooManySignIns: ['unauthorized', 'Too many wrong passwords: try again in {seconds} s.'],
  tooManyPasswords: ['conflict', 'Too many wrong passwords: try again in {seconds} s.'],
  passwordWrong: ['invalid', 'This is not your password.'],
  noPasswordSession: ['conflict', 'You are not signed in with a password.'],
  noAccount: ['conflict', 'You are not signed in with an account.'],

  accountNotFound: ['notFound', 'There is no such account.'],
  accountExists: ['conflict', 'There is an account with this name.'],
  accountReserved: ['conflict', 'This name stands for somebody else in the event log.'],
  accountLimit: ['conflict', 'A site holds at most {limit} accounts.'],
  lastAdmin: [
    'conflict',
    'This is the last enabled admin, and the console key is switched off: switch the key on first.',
  ],
  keyStaysOn: [
    'conflict',
    'The console key stays on until there is an enabled account of an admin: else nobody could get in.',
  ],
  passwordShort: ['invalid', 'The password must have {limit} characters or more.'],
  passwordLong: ['invalid', 'The password must have {limit} characters at most.'],
  passwordIsName: ['invalid', 'The password must not be the name.'],
  passwordCommon: ['invalid', 'This password is one of the first that somebody would try.'],
  sessionNotFound: ['notFound', 'There is no such session.'],
  tokenNotFound: ['notFound', 'There is no such token.'],
  tokenRole: ['forbidden', 'A token of this account can be {role} at most.'],
  tokenScope: ['forbidden', 'The scope {scope} is of no use to a token of the role {role}.'],
  tokenLimit: ['conflict', 'An account has at most {limit} tokens.'],
  desktopHasNoKey: ['conflict', 'The desktop app has no console key.'],

  credentialNotFound: ['notFound', 'There is no such credential.'],
  credentialExists: ['conflict', 'A credential with this access_key exists already.'],
  credentialLimit: ['conflict', 'A site holds at most {limit} credentials.'],
} as const satisfies RefusalTable
