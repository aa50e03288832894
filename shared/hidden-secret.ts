/** Placeholder for a stored secret in responses. Sending it back keeps the stored secret. */
export const hiddenSecret = '******'
