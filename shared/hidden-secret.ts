/** Text that stands for a secret wherever one is stored. Sent back unchanged, it keeps the stored secret. */
export const hiddenSecret = '******'
