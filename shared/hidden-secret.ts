/** Placeholder of a stored secret. Sent back unchanged, it keeps the secret. */
export const hiddenSecret = '******'
