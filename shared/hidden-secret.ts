/** Placeholder of a stored secret. Sending it back unchanged keeps the secret. */
export const hiddenSecret = '******'
