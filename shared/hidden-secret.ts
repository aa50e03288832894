/** What stands for a secret wherever it is shown to be there. Sent back unchanged, it keeps the secret that is stored. */
export const hiddenSecret = '******'
