/** Collections whose changes may end sessions of the console. */
export const endsSessions: ReadonlySet<string> = new Set(['accounts', 'account_sessions', 'settings'])
