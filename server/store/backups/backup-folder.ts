/** Sub-folder of the data folder; each backup is a folder in it that holds whole files. */
export const backupsFolder = 'backups'
