/** Names of the operations by which clients sign in: apart from the operations, so that the console's first load has no schemas of them. */
export const signInOperations = { authenticate: 'authenticate', getAccessToken: 'get_access_token' } as const
